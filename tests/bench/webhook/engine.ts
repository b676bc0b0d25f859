import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as StripeSyncEngine from '@supabase/stripe-sync-engine';
import postgres from 'postgres';
import { withDatabase } from '../../support/database-url';

// As a module it does not find its migrations.
const { runMigrations, StripeSync }: typeof StripeSyncEngine = createRequire(import.meta.url)(
  '@supabase/stripe-sync-engine',
);

/** Somebody else's sync: it keeps Stripe's objects as they are, a table for each kind, and knows no customers. */
export interface Engine {
  take(payload: string): Promise<void>;
  close(): Promise<void>;
}

/** In a database of its own on the same server: its migrations take our types for theirs. */
export async function openEngine(server: string, connections: number): Promise<Engine> {
  const name = `w5t_bench_engine_${randomBytes(6).toString('hex')}`;
  const admin = postgres(server, { max: 1 });
  await admin.unsafe(`create database ${name}`);
  const url = withDatabase(server, name);
  await runMigrations({ databaseUrl: url, schema: 'stripe' });
  const sync = new StripeSync({
    poolConfig: { connectionString: url, max: connections },
    stripeSecretKey: 'sk_test_bench',
    stripeWebhookSecret: 'whsec_bench',
    backfillRelatedEntities: false,
    autoExpandLists: false,
  });
  return {
    take: (payload) => sync.processEvent(JSON.parse(payload)),
    close: async () => {
      await sync.postgresClient.pool.end();
      // The pool does not wait until its connections are closed.
      while ((await admin`select from pg_stat_activity where datname = ${name}`).length > 0) await sleep(50);
      await admin.unsafe(`drop database ${name}`);
      await admin.end();
    },
  };
}
