import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import type * as StripeSyncEngine from '@supabase/stripe-sync-engine';
import postgres from 'postgres';
import { withDatabase } from '../support/database-url';
import { CONNECTIONS } from './measure';

/**
 * Opens Supabase's sync engine, which stores Stripe's objects unchanged, one table per kind. The engine gets its own
 * database, because its migrations would mistake our types for its own.
 */
export async function openEngine(server: string) {
  // Use `require`, because the package does not find its migrations if it is imported as an ES module.
  const { runMigrations, StripeSync }: typeof StripeSyncEngine = createRequire(import.meta.url)(
    '@supabase/stripe-sync-engine',
  );
  const name = `w5t_bench_engine_${randomBytes(6).toString('hex')}`;
  const admin = postgres(server, { max: 1 });
  await admin.unsafe(`create database ${name}`);
  const url = withDatabase(server, name);
  await runMigrations({ databaseUrl: url, schema: 'stripe' });
  const sync = new StripeSync({
    poolConfig: { connectionString: url, max: CONNECTIONS },
    stripeSecretKey: 'sk_test_bench',
    stripeWebhookSecret: 'whsec_bench',
    backfillRelatedEntities: false,
    autoExpandLists: false,
  });
  return {
    take: (payload: string) => sync.processEvent(JSON.parse(payload)),
    close: async () => {
      await sync.postgresClient.pool.end();
      await admin.unsafe(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}
