import { verifyPassword } from 'better-auth/crypto';
import { and, eq, isNull } from 'drizzle-orm';
import type { DatabaseHandle } from '../../../db/client';
import type { Database } from '../../../db/database';
import { keepPrivate } from '../../../db/private-files';
import { accessTokens, staffAccounts, staffUsers } from '../../../db/schema';
import { hasCustomers, seedDatabase } from '../../../db/seed';
import { addStaffUser } from '../../auth/staff/add-staff-user';
import { changeStaffRole } from '../../auth/staff/change-staff-role';
import { setStaffPassword } from '../../auth/staff/set-staff-password';
import type { StaffWorld } from '../../auth/staff/staff-user';
import { SCOPES } from '../../auth/tokens/access-token';
import { createAccessToken, revokeAccessToken } from '../../auth/tokens/manage-access-tokens';
import { toCalendarDate } from '../../dates';
import { makeDataDir, openDatabase } from '../../open-database';
import { migrateServer } from '../../open-server';
import { worldOf } from '../../runtime';
import type { World } from '../../stripe-local/world';
import { prepareWorld } from './local-stripe';
import { requireOwnDatabase } from './require-own-database';
import { DEMO, DEMO_ACTOR, type DemoEnv, type DemoSettings } from './settings';
import { showStates } from './show-states';

interface PreparedDatabase {
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

const WEEK_MS = 7 * 86_400_000;

/**
 * Ends the tokens of earlier runs and makes this run's, for everything. The embedded database is the
 * server's while the demo runs, so that the end of a run cannot take its token back: the next start does.
 */
export async function prepareAccessToken(
  db: Database,
  world: { now(): Date; randomBytes(size: number): Buffer },
): Promise<string> {
  const ours = await db
    .select({ id: accessTokens.id })
    .from(accessTokens)
    .where(
      and(eq(accessTokens.name, DEMO), eq(accessTokens.created_by, DEMO), isNull(accessTokens.revoked_at)),
    );
  for (const { id } of ours) await revokeAccessToken(db, id, { actor: DEMO_ACTOR, now: world.now() });
  const expires_at = new Date(world.now().getTime() + WEEK_MS);
  const input = { name: DEMO, scopes: [...SCOPES], expires_at, created_by: DEMO_ACTOR };
  return (await createAccessToken(db, input, world.randomBytes)).token;
}

/** Makes the demo's login, an admin's, or gives it its password and role back; who is signed in stays so. */
async function prepareStaffUser(world: StaffWorld, settings: DemoSettings): Promise<void> {
  const login = { email: settings.staffEmail, password: settings.staffPassword };
  const [found] = await world.db
    .select({ hash: staffAccounts.password })
    .from(staffUsers)
    .leftJoin(
      staffAccounts,
      and(eq(staffAccounts.userId, staffUsers.id), eq(staffAccounts.providerId, 'credential')),
    )
    .where(eq(staffUsers.email, login.email));
  const actor = DEMO_ACTOR;
  const { email, password } = login;
  if (!found) {
    await addStaffUser(world, { ...login, name: 'Demo', role: 'admin' }, actor);
    return;
  }
  if (!found.hash || !(await verifyPassword({ hash: found.hash, password }))) {
    await setStaffPassword(world, { email }, { password }, actor);
  }
  await changeStaffRole(world.db, { email }, 'admin', actor);
}
