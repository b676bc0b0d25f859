import type Stripe from 'stripe';
import type { Database } from '@/db/database';
import type { Logger } from '../log';

/** What sync needs from the outside. */
export interface SyncDeps {
  db: Database;
  /** Null without an API key: everything is decided from the payloads. */
  stripe: Stripe | null;
  now(): Date;
  log: Logger;
  /** Calendar dates are those of this zone. */
  timeZone: string;
}

/** What sync takes of a runtime. */
export function syncDeps(runtime: Omit<SyncDeps, 'timeZone'> & { env: { timeZone: string } }): SyncDeps {
  const { db, stripe, now, log, env } = runtime;
  return { db, stripe, now, log, timeZone: env.timeZone };
}
