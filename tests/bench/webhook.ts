import postgres from 'postgres';
import { openPostgres } from '@/db/client';
import { benchDeps, take, withSeededDatabase } from './database';
import { openEngine } from './engine';
import { CONNECTIONS, compareAll, requireRatio } from './measure';
import { type EventSource, linkServices, mixedEvents, requireAllProcessed } from './requests';

// This bench measures how we handle the mixed stream of webhook deliveries in one process, without HTTP and signature
// checks. It compares us with a transaction of two statements (the floor) and with Supabase's sync engine.

const LEAST_RATIO = 0.5;

await withSeededDatabase(async (db, databaseUrl) => {
  // Use the product's pool, which has fewer connections than there are simultaneous deliveries.
  const { db: pooled, close } = openPostgres(databaseUrl);
  const deps = benchDeps(pooled);
  const floor = await openFloor(databaseUrl);
  const engine = await openEngine(databaseUrl);
  try {
    const [ours, theirs] = [mixedEvents('ours'), mixedEvents('theirs')];
    await take(deps, ours.created);
    await linkServices(db);
    for (const payload of theirs.created) await engine.take(payload);
    const contenders = [
      { name: 'floor', once: await floor.writer(ours) },
      { name: 'engine', once: () => engine.take(theirs.next()) },
      { name: 'handler', once: () => take(deps, [ours.next()]) },
    ];
    await compareAll('Mixed stream', contenders, 1);
    const [, ofEngine = 0, ratio = 0] = await compareAll('Mixed stream', contenders, CONNECTIONS);
    await requireAllProcessed(db);
    requireRatio('handler / floor', ratio, LEAST_RATIO);
    requireRatio('handler / stripe-sync-engine', ratio / ofEngine, 1);
  } finally {
    await engine.close();
    await floor.close();
    await close();
  }
});

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
