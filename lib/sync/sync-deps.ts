import type Stripe from 'stripe';
import type { Database } from '@/db/database';
import type { Env, StripeMode } from '../env';
import type { Logger } from '../log';
import type { Store } from '../store/store';

type Settings = Pick<
  Env,
  'timeZone' | 'linkByEmail' | 'eventRetentionDays' | 'documentRetentionYears' | 'toolCallRetentionDays'
>;

export interface SyncDeps extends Settings {
  db: Database;
  store?: Store;
  /** Stripe's client. Null if no API key is configured. In this case, decisions do not ask Stripe. */
  stripe: Stripe | null;
  /** Why `stripe` is null, if an API key is configured. */
  stripeError?: 'other_account';
  /** Mode of the configured keys. Events of the other mode are only stored. Null if both modes are accepted. */
  mode: StripeMode | null;
  now(): Date;
  log: Logger;
  /** Called after each question to Stripe that a decision needs. A reconciliation run renews its lease then. */
  afterQuestion?(): Promise<void>;
  /** Waits for some milliseconds before Stripe is asked again. Tests replace it. */
  pause?(ms: number): Promise<unknown>;
  /** Returns whether a reconciliation run must stop after the current object. */
  isOver?(): boolean;
}

type Source = Pick<SyncDeps, 'db' | 'stripe' | 'now' | 'log'> & {
  env: Settings & { stripe: Pick<SyncDeps, 'mode'> };
};

export function syncDeps({ db, stripe, now, log, env }: Source): SyncDeps {
  const { timeZone, linkByEmail, eventRetentionDays, documentRetentionYears, toolCallRetentionDays } = env;
  const retention = { eventRetentionDays, documentRetentionYears, toolCallRetentionDays };
  return { db, stripe, mode: env.stripe.mode, now, log, timeZone, linkByEmail, ...retention };
}
