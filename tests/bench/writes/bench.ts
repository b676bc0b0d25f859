import { sql } from 'drizzle-orm';
import { openPostgres } from '@/db/client';
import { type Database, rows } from '@/db/database';
import { commandActor } from '@/lib/audit/record-audit';
import { recordPayment } from '@/lib/payments/record-payment';
import { type Contender, compareAll } from '../compare';
import { withSeededDatabase } from '../database';
import { CONNECTIONS } from '../load';
import { type Invoice, openInvoices, paymentFor } from '../payments/operations';
import { benchDeps, take } from '../take';
import { mixedEvents } from '../webhook/events';

// What keeping counts, sums and search indexes costs those who write: the same writes into a database that keeps
// them, and into one that does not.

const MOST = 1.3;
const BENCH = commandActor('bench');

await withSeededDatabase((bareDb, bareUrl) =>
  withSeededDatabase(async (_, url) => {
    await stopKeeping(bareDb);
    const [bare, kept] = [openPostgres(bareUrl), openPostgres(url)];
    try {
      const [before, after] = [await openDoor(bare.db, 'bare'), await openDoor(kept.db, 'kept')];
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

async function stopKeeping(db: Database): Promise<void> {
  const triggers = await rows<{ name: string; table: string }>(
    db,
    sql`select tgname as name, tgrelid::regclass::text as "table" from pg_trigger
      where not tgisinternal and (tgname like 'count\\_%' or tgname like 'sum\\_%')`,
  );
  if (triggers.length === 0) throw new Error('there are no triggers to be left out');
  for (const { name, table } of triggers) {
    await db.execute(sql`alter table ${sql.identifier(table)} disable trigger ${sql.identifier(name)}`);
  }
  for (const name of ['number', 'email', 'last_name', 'company', 'full_name']) {
    await db.execute(sql`drop index ${sql.identifier(`customers_${name}_beginning`)}`);
  }
  await db.execute(sql`drop index customers_letter_pairs`);
}

/** The same writes to each database. */
async function openDoor(db: Database, name: string): Promise<Record<string, Contender>> {
  const events = mixedEvents('writes');
  const deps = benchDeps(db);
  await take(deps, events.created);
  const open = await openInvoices(db);
  let sent = 0;
  const record = (reference: (invoice: Invoice) => string) => () => {
    sent += 1;
    const invoice = open[sent % open.length] as Invoice;
    const writer = { actor: BENCH, source: 'api', now: new Date(), timeZone: 'UTC' } as const;
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
