import { sql } from 'drizzle-orm';
import { openPostgres } from '@/db/client';
import { type Database, rows } from '@/db/database';
import { recordPayment } from '@/lib/payments/write-payment';
import { BENCH_ACTOR, benchDeps, take, withSeededDatabase } from './database';
import { CONNECTIONS, type Contender, compareAll } from './measure';
import { type Invoice, mixedEvents, openInvoices, paymentFor } from './requests';

// This bench compares the same writes on two databases. One of them does not maintain counts, sums and search indexes.

const MOST = 1.3;

await withSeededDatabase((bareDb, bareUrl) =>
  withSeededDatabase(async (_, url) => {
    await dropKept(bareDb);
    const [bare, kept] = [openPostgres(bareUrl), openPostgres(url)];
    try {
      const [before, after] = [await writesTo(bare.db, 'bare'), await writesTo(kept.db, 'kept')];
      const slower: number[] = [];
      for (const connections of [1, CONNECTIONS]) {
        for (const name of Object.keys(before)) {
          const pair = [before[name], after[name]] as [Contender, Contender];
          const [, ratio = 0] = await compareAll(name, pair, connections);
          slower.push(1 / ratio);
        }
      }
      const worst = Math.max(...slower);
      console.log(`\nat most ${worst.toFixed(2)} times as long, ${MOST} allowed`);
      if (worst > MOST) process.exitCode = 1;
    } finally {
      await bare.close();
      await kept.close();
    }
  }),
);

async function dropKept(db: Database): Promise<void> {
  const triggers = await rows<{ name: string; table: string }>(
    db,
    sql`select tgname as name, tgrelid::regclass::text as "table" from pg_trigger
      where not tgisinternal and (tgname like '%\\_count\\_%' or tgname like 'sum\\_%')`,
  );
  if (triggers.length === 0) throw new Error('no trigger keeps a count or a sum');
  for (const { name, table } of triggers) {
    await db.execute(sql`alter table ${sql.identifier(table)} disable trigger ${sql.identifier(name)}`);
  }
  for (const name of ['number', 'email', 'last_name', 'company', 'full_name']) {
    await db.execute(sql`drop index ${sql.identifier(`customers_${name}_beginning`)}`);
  }
  await db.execute(sql`drop index customers_letter_pairs`);
}

async function writesTo(db: Database, name: string): Promise<Record<string, Contender>> {
  const events = mixedEvents('writes');
  const deps = benchDeps(db);
  await take(deps, events.created);
  const open = await openInvoices(db);
  let sent = 0;
  const record = (reference: (invoice: Invoice) => string) => () => {
    sent += 1;
    const invoice = open[sent % open.length] as Invoice;
    const writer = { actor: BENCH_ACTOR, source: 'api', now: new Date(), timeZone: 'UTC' } as const;
    return recordPayment(db, paymentFor(invoice, reference(invoice), sent), writer);
  };
  const known = record(({ id }) => `KNOWN-${id}`);
  for (const _ of open) await known();
  return {
    'Events of Stripe, mixed': { name, once: () => take(deps, [events.next()]) },
    'Payments, new': { name, once: record(() => `NEW-${sent}`) },
    'Payments, known': { name, once: known },
  };
}
