import type Stripe from 'stripe';
import type { Database } from '@/db/database';
import type { Logger } from '../log';
import type { Store } from './store/store';

/** What sync needs from the outside. */
export interface SyncDeps {
  db: Database;
  /** Where steps read and commit; the database unless it is given. */
  store?: Store;
  /** Null without an API key: everything is decided from the payloads. */
  stripe: Stripe | null;
  now(): Date;
  log: Logger;
  /** Calendar dates are those of this zone. */
  timeZone: string;
  /** As LINK_BY_EMAIL says. */
  linkByEmail: boolean;
  /** As EVENT_RETENTION_DAYS says. */
  eventRetentionDays: number;
  /** As TOOL_CALL_RETENTION_DAYS says. */
  toolCallRetentionDays: number;
}

type Settings = Pick<SyncDeps, 'timeZone' | 'linkByEmail' | 'eventRetentionDays' | 'toolCallRetentionDays'>;

/** What sync takes of a runtime. */
export function syncDeps(runtime: Omit<SyncDeps, keyof Settings> & { env: Settings }): SyncDeps {
  const { db, stripe, now, log, env } = runtime;
  const { timeZone, linkByEmail, eventRetentionDays, toolCallRetentionDays } = env;
  return { db, stripe, now, log, timeZone, linkByEmail, eventRetentionDays, toolCallRetentionDays };
}
