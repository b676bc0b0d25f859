import type Stripe from 'stripe';
import type { Database } from '@/db/database';
import type { Logger } from '../log';
import type { Store } from './store/store';

export interface SyncDeps {
  db: Database;
  store?: Store;
  /** Null without an API key: everything is decided from the payloads. */
  stripe: Stripe | null;
  now(): Date;
  log: Logger;
  /** Calendar dates are those of this zone. */
  timeZone: string;
  linkByEmail: boolean;
  eventRetentionDays: number;
  toolCallRetentionDays: number;
}

type Settings = Pick<SyncDeps, 'timeZone' | 'linkByEmail' | 'eventRetentionDays' | 'toolCallRetentionDays'>;

export function syncDeps(runtime: Omit<SyncDeps, keyof Settings> & { env: Settings }): SyncDeps {
  const { db, stripe, now, log, env } = runtime;
  const { timeZone, linkByEmail, eventRetentionDays, toolCallRetentionDays } = env;
  return { db, stripe, now, log, timeZone, linkByEmail, eventRetentionDays, toolCallRetentionDays };
}
