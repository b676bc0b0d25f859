import type Stripe from 'stripe';
import type { Database } from '@/db/database';
import type { StripeMode } from '../env';
import type { Logger } from '../log';
import type { Store } from './store/store';

export interface SyncDeps {
  db: Database;
  store?: Store;
  /** Null without an API key: everything is decided from the payloads. */
  stripe: Stripe | null;
  /** Of the configured keys: events of the other mode are kept and ignored. Null: any mode is accepted. */
  mode: StripeMode | null;
  now(): Date;
  log: Logger;
  /** Calendar dates are those of this zone. */
  timeZone: string;
  linkByEmail: boolean;
  eventRetentionDays: number;
  toolCallRetentionDays: number;
}

type Settings = Pick<SyncDeps, 'timeZone' | 'linkByEmail' | 'eventRetentionDays' | 'toolCallRetentionDays'>;
type Source = Pick<SyncDeps, 'db' | 'stripe' | 'now' | 'log'> & {
  env: Settings & { stripe: Pick<SyncDeps, 'mode'> };
};

export function syncDeps({ db, stripe, now, log, env }: Source): SyncDeps {
  const { timeZone, linkByEmail, eventRetentionDays, toolCallRetentionDays } = env;
  const { mode } = env.stripe;
  return { db, stripe, mode, now, log, timeZone, linkByEmail, eventRetentionDays, toolCallRetentionDays };
}
