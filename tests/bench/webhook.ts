import postgres from 'postgres';
import { openPostgres } from '@/db/client';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import { benchDeps, take, withSeededDatabase } from './database';
import { openEngine } from './engine';
import { CONNECTIONS, type Contender, compareAll, requireRatio } from './measure';
import {
  type EventSource,
  linkServices,
  mixedEvents,
  requireAllProcessed,
  subscriptionEvents,
} from './requests';

// This bench measures how we handle webhook deliveries, without HTTP. It compares us with a transaction of two
// statements (the floor) and with Supabase's sync engine.

const LEAST_RATIO = 0.5;

await withSeededDatabase(async (db, databaseUrl) => {
  // Use the product's pool, which has fewer connections than there are simultaneous deliveries.
  const { db: pooled, close } = openPostgres(databaseUrl);
  const deps = benchDeps(pooled);
  const floor = await openFloor(databaseUrl);
  const sources = {
    distinct: subscriptionEvents('many', 1000),
    repeated: subscriptionEvents('one', 1),
    mixed: mixedEvents('mixed'),
  };
  for (const { created } of Object.values(sources)) await take(deps, created);
  await linkServices(db);
  try {
    const ratios = await compareHandler(deps, floor, sources);
    const ahead = await compareEngine(databaseUrl, deps, floor);
    await requireAllProcessed(db);
    requireRatio('handler / floor', Math.min(...ratios), LEAST_RATIO);
    console.log(`handler / stripe-sync-engine on the mixed stream: ${ahead.toFixed(2)}`);
    if (!(ahead > 1)) process.exitCode = 1;
  } finally {
    await floor.close();
    await close();
  }
});

/** Compares our event handler with the floor, without signature checks. @returns the ratio for each source */
async function compareHandler(
  deps: SyncDeps,
  floor: Floor,
  sources: Record<string, EventSource>,
): Promise<number[]> {
  const ratios: number[] = [];
  for (const [what, source] of Object.entries(sources)) {
    const contenders: Contender[] = [
      { name: 'floor', once: await floor.writer(source) },
      { name: 'handler', once: () => take(deps, [source.next()]) },
    ];
    await compareAll(`${what} objects`, contenders, 1);
    const [, ratio = 0] = await compareAll(`${what} objects`, contenders, CONNECTIONS);
    ratios.push(ratio);
  }
  return ratios;
}

/**
 * Compares our handler with Supabase's sync engine, without signature checks.
 *
 * @returns our calls per second divided by the engine's
 */
async function compareEngine(url: string, deps: SyncDeps, floor: Floor): Promise<number> {
  const [ours, theirs] = [mixedEvents('ours'), mixedEvents('theirs')];
  await take(deps, ours.created);
  const engine = await openEngine(url);
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

interface Floor {
  /** Returns a function that writes one event of the source with as few statements as possible. */
  writer(source: EventSource): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** Opens the baseline: a transaction for each event that inserts the raw event and updates one row. */
async function openFloor(url: string): Promise<Floor> {
  const client = postgres(url, { max: CONNECTIONS, onnotice: () => {} });
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
