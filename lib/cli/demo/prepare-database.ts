import type { DatabaseHandle } from '@/db/client';
import { keepPrivate } from '@/db/private-files';
import { hasCustomers, seedDatabase } from '@/db/seed';
import { toCalendarDate } from '../../dates';

import { makeDataDir, openDatabase } from '../../open-database';
import { migrateServer } from '../../open-server';
import { worldOf } from '../../runtime';
import type { World } from '../../stripe-local/world';
import { prepareAccessToken } from './access-token';
import type { DemoEnv } from './demo-env';
import { prepareWorld } from './local-stripe';
import { requireOwnDatabase } from './require-own-database';
import { showStates } from './show-states';
import { prepareStaffUser } from './staff-user';

export interface PreparedDatabase {
  token: string;
  /** Null where the environment names a Stripe of its own. */
  world: World | null;
}

/** Brings the demo's database up to date, fills it where it is empty, and leaves it to the server. */
export async function prepareDatabase({ env, settings, ownStripe }: DemoEnv): Promise<PreparedDatabase> {
  const runtime = worldOf(env);
  await requireOwnDatabase(env, settings.staffEmail);
  const { db, close } = await openMigrated(env);
  try {
    await prepareStaffUser({ db, ...runtime }, settings); // first: it marks the database as the demo's
    const fresh = !(await hasCustomers(db));
    if (fresh) {
      console.log('Filling the empty database with sample data …');
      const today = toCalendarDate(runtime.now(), env.timeZone);
      await seedDatabase(db, { today, timeZone: env.timeZone });
      await showStates(db, { now: runtime.now(), timeZone: env.timeZone });
    }
    const token = await prepareAccessToken(db, runtime);
    const world = ownStripe ? await prepareWorld(db, env, { ...runtime, fresh }) : null;
    return { token, world };
  } finally {
    await close();
  }
}

/** Opening the embedded database migrates it; a server's is migrated here and checked when it is opened. */
async function openMigrated(env: DemoEnv['env']): Promise<DatabaseHandle> {
  if (!env.databaseUrl) return openDatabase(env);
  makeDataDir(env.dataDir); // for what the demo keeps beside the database
  keepPrivate(env.dataDir);
  await migrateServer(env);
  return openDatabase(env);
}
