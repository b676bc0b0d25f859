import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as StripeSyncEngine from '@supabase/stripe-sync-engine';
import postgres from 'postgres';
import { openPostgres } from '@/db/client';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import { withDatabase } from '../support/database-url';
import { benchDeps, take, withSeededDatabase } from './database';
import { CONNECTIONS, type Contender, compareAll, keepBusy, send } from './measure';
import {
  type EventSource,
  linkServices,
  mixedEvents,
  requireAllProcessed,
  SECRET,
  signedDelivery,
  subscriptionEvents,
} from './requests';
import { buildCopy, serveCopy } from './serve';

// Deliveries next to a floor of one transaction with two statements, and to another open source sync engine.

/** A server that has just started needs a longer warm-up. */
const SERVER_WARM_UP_MS = 8000;
const LEAST_RATIO = 0.5;
const isWithHttp = process.env.BENCH_HTTP !== '0';

await withSeededDatabase(async (db, databaseUrl) => {
  // With the pool of the product, so that the deliveries share fewer connections.
  const { db: pooled, close } = openPostgres(databaseUrl);
  const deps = benchDeps(pooled);
  const floor = await openFloor(databaseUrl, CONNECTIONS);
  const sources = async (prefix: string) => {
    const distinct = subscriptionEvents(`${prefix}many`, 1000);
    const repeated = subscriptionEvents(`${prefix}one`, 1);
    const mixed = mixedEvents(`${prefix}mixed`);
    for (const { created } of [distinct, repeated, mixed]) await take(deps, created);
    await linkServices(db);
    return { distinct, repeated, mixed };
  };
  try {
    const ratios = await compareHandler(deps, floor, await sources('h'));
    const ahead = await compareEngine(databaseUrl, deps, floor);
    if (isWithHttp) await compareHttp(databaseUrl, floor, await sources('w'));
    await requireAllProcessed(db);
    const worst = Math.min(...ratios);
    const verdict = worst >= LEAST_RATIO ? 'it is' : 'it is NOT';
    console.log(
      `\nhandler / floor must be at least ${LEAST_RATIO} on ${CONNECTIONS} connections: ${verdict}`,
    );
    console.log(`handler / stripe-sync-engine on the mixed stream: ${ahead.toFixed(2)}`);
    if (!(worst >= LEAST_RATIO && ahead > 1)) process.exitCode = 1;
  } finally {
    await floor.close();
    await close();
  }
});

type Sources = Record<'distinct' | 'repeated' | 'mixed', EventSource>;

/** Compares the handling of events after the signature check. @returns the ratios on all connections */
async function compareHandler(deps: SyncDeps, floor: Floor, sources: Sources): Promise<number[]> {
  const ratios: number[] = [];
  for (const [what, source] of Object.entries(sources)) {
    const handler = { name: 'handler', once: () => take(deps, [source.next()]) };
    ratios.push(await compareToFloor(`Handler, ${what} objects`, floor, source, handler));
  }
  return ratios;
}

/** Both sides take events whose signature was checked. @returns handler / engine */
async function compareEngine(url: string, deps: SyncDeps, floor: Floor): Promise<number> {
  const [ours, theirs] = [mixedEvents('ours'), mixedEvents('theirs')];
  await take(deps, ours.created);
  const engine = await openEngine(url, CONNECTIONS);
  try {
    for (const payload of theirs.created) await engine.take(payload);
    const contenders = [
      { name: 'floor', once: await floor.writer(ours) },
      { name: 'engine', once: () => engine.take(theirs.next()) },
      { name: 'handler', once: () => take(deps, [ours.next()]) },
    ];
    const [, engineRatio = 0, ratio = 0] = await compareAll('Mixed stream', contenders, CONNECTIONS);
    return ratio / engineRatio;
  } finally {
    await engine.close();
  }
}

/** Signed deliveries to the production server. */
async function compareHttp(databaseUrl: string, floor: Floor, sources: Sources): Promise<void> {
  console.log('\nBuilding …');
  const copy = await buildCopy({});
  const server = await serveCopy(copy.folder, databaseUrl, { STRIPE_WEBHOOK_SECRET: SECRET });
  try {
    const delivering = (source: EventSource): Contender => ({
      name: 'over HTTP',
      once: (agent) => send(signedDelivery(server.url, source.next()), agent),
    });
    await keepBusy(delivering(sources.distinct), SERVER_WARM_UP_MS, CONNECTIONS);
    for (const [what, source] of Object.entries(sources)) {
      await compareToFloor(`Over HTTP, ${what} objects`, floor, source, delivering(source));
    }
  } finally {
    await server.stop();
    copy.remove();
  }
}

/** @returns the contender's ratio to the floor on all connections */
async function compareToFloor(what: string, floor: Floor, source: EventSource, contender: Contender) {
  const contenders = [{ name: 'floor', once: await floor.writer(source) }, contender];
  await compareAll(what, contenders, 1);
  const [, ratio = 0] = await compareAll(what, contenders, CONNECTIONS);
  return ratio;
}

interface Floor {
  /** Writes one event of the source with the fewest statements possible. */
  writer(source: EventSource): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** One transaction that inserts the raw event and updates one row by its key, with the same driver. */
async function openFloor(url: string, connections: number): Promise<Floor> {
  const client = postgres(url, { max: connections, onnotice: () => {} });
  await client`create table bench_events (id text primary key, payload text not null)`;
  await client`create table bench_rows (id int primary key, next_billing_date date, synced_at timestamptz)`;
  let written = 0;
  return {
    writer: async (source) => {
      const objects = source.created.length;
      await client`insert into bench_rows (id)
        select generate_series(1, ${objects}::int) on conflict do nothing`;
      await client`analyze bench_rows`;
      return async () => {
        written += 1;
        const [id, row, now] = [`evt_${written}`, (written % objects) + 1, new Date()];
        const payload = source.next();
        await client.begin(async (tx) => {
          await tx`insert into bench_events (id, payload) values (${id}, ${payload})`;
          await tx`update bench_rows set next_billing_date = '2026-03-10', synced_at = ${now} where id = ${row}`;
        });
      };
    },
    close: () => client.end(),
  };
}

/**
 * Supabase's sync engine, which stores Stripe's objects as they are, one table per kind. It gets its own database,
 * because its migrations would take our types for its own.
 */
async function openEngine(server: string, connections: number) {
  // As an ES module the package does not find its migrations.
  const { runMigrations, StripeSync }: typeof StripeSyncEngine = createRequire(import.meta.url)(
    '@supabase/stripe-sync-engine',
  );
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
    take: (payload: string) => sync.processEvent(JSON.parse(payload)),
    close: async () => {
      await sync.postgresClient.pool.end();
      // The pool does not wait until its connections are closed.
      while ((await admin`select from pg_stat_activity where datname = ${name}`).length > 0) await sleep(50);
      await admin.unsafe(`drop database ${name}`);
      await admin.end();
    },
  };
}
