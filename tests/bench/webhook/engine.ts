import { createRequire } from 'node:module';
import type * as StripeSyncEngine from '@supabase/stripe-sync-engine';

// As a module it does not find its migrations.
const { runMigrations, StripeSync }: typeof StripeSyncEngine = createRequire(import.meta.url)(
  '@supabase/stripe-sync-engine',
);

/** Somebody else's sync: it keeps Stripe's objects as they are, a table for each kind, and knows no customers. */
export interface Engine {
  take(payload: string): Promise<void>;
  close(): Promise<void>;
}

export async function openEngine(url: string, connections: number): Promise<Engine> {
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
    close: () => sync.postgresClient.pool.end(),
  };
}
