import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { type SQL, sql } from 'drizzle-orm';
import { openPostgres } from '@/db/client';
import type { Database } from '@/db/database';
import { importFile } from '@/lib/imports/import-file';
import type { ImportName } from '@/lib/imports/kinds';
import { BENCH_ACTOR, withMigratedDatabase } from './database';

// Measures imported rows per second and memory use. The baseline is bare inserts of similar rows, a thousand at a time,
// into the same tables with their indexes and triggers.

const CUSTOMERS = Number(process.env.BENCH_CUSTOMERS ?? 100_000);
const MOST_MEMORY_MB = 150;
const AT_ONCE = 1000;
const FIRST = ['Ada', 'Grace', 'Jürgen', 'Anna', 'Zoë', 'Lukas'];
const LAST = ['Müller', 'Schmidt', 'Weber', 'Strauß', 'Hoffmann'];

interface Kind {
  rows: number;
  /** Rows per second that an import must reach, unless half the speed of bare inserts is less. */
  wanted: number;
  header: string;
  toLine(n: number): string;
  /** Returns SQL that inserts one row for each number n of a series. */
  insert(series: SQL): SQL;
}

const KINDS: Partial<Record<ImportName, Kind>> = {
  customers: {
    rows: CUSTOMERS,
    wanted: 5000,
    header: 'customer_number,first_name,last_name,company,email,phone,street,postal_code,city,country',
    toLine: (n) =>
      [
        `K${20_000 + n}`,
        FIRST[n % 6],
        `${LAST[n % 5]} ${n % 997}`,
        n % 3 === 0 ? `${LAST[n % 4]} Druckerei ${n} GmbH` : '',
        `kunde${n}@example${n % 500}.com,+49 30 ${n},Hauptstraße ${n % 200},${10_000 + (n % 89_999)},Berlin,DE`,
      ].join(','),
    insert: (series) => sql`insert into customers
      (customer_number, first_name, last_name, company, email, phone, street, postal_code, city, country)
      select 'K' || (20000 + n), (array['Zoë','Ada','Grace','Jürgen','Anna','Lukas'])[1 + n % 6],
        (array['Müller','Schmidt','Weber','Strauß','Hoffmann'])[1 + n % 5] || ' ' || n % 997,
        case when n % 3 = 0 then 'Weber Druckerei ' || n || ' GmbH' end,
        'kunde' || n || '@example' || n % 500 || '.com', '+49 30 ' || n, 'Hauptstraße ' || n % 200,
        (10000 + n % 89999)::text, 'Berlin', 'DE' ${series}`,
  },
  invoices: {
    rows: CUSTOMERS * 3,
    wanted: 5000,
    header: 'number,customer_number,status,invoice_date,due_date,subtotal,tax,total',
    toLine: (n) =>
      `R-${n},K${20_001 + (n % CUSTOMERS)},${n % 4 === 0 ? 'sent' : 'paid'},2026-0${1 + (n % 9)}-1${n % 9},2026-12-01,100.00,19.00,119.00`,
    insert: (series) => sql`insert into invoices
      (number, customer_id, status, invoice_date, due_date, subtotal, tax, total, amount_paid, amount_due)
      select 'R-' || n, 1 + n % ${CUSTOMERS}::int, (case n % 4 when 0 then 'sent' else 'paid' end)::invoice_status,
        date '2026-01-10' + n % 240, '2026-12-01', 100, 19, 119, case n % 4 when 0 then 0 else 119 end,
        case n % 4 when 0 then 119 else 0 end ${series}`,
  },
  // Every second one of the first CUSTOMERS invoices gets a payment. Importing a payment also writes an audit log entry
  // and settles the invoice.
  payments: {
    rows: CUSTOMERS / 2,
    wanted: 1000,
    header: 'payment_reference,invoice_number,customer_number,amount,payment_date,status',
    toLine: (n) =>
      `PAY-${n},R-${2 * n},K${20_001 + ((2 * n) % CUSTOMERS)},119.00,2026-10-1${n % 9},completed`,
    insert: (series) => sql`insert into payments
      (payment_reference, invoice_id, customer_id, amount, currency, payment_date, source)
      select 'PAY-' || n, i.id, i.customer_id, 119, i.currency, date '2026-10-10' + n % 9, 'import' ${series}
      join invoices i on i.number = 'R-' || 2 * n`,
  },
};
const ALL = Object.entries(KINDS) as [ImportName, Kind][];

const folder = mkdtempSync(join(tmpdir(), 'w5t-bench-'));
try {
  for (const [kind, { rows, header, toLine }] of ALL) {
    const lines = Array.from({ length: rows }, (_, i) => toLine(i + 1));
    writeFileSync(join(folder, `${kind}.csv`), [header, ...lines].join('\n'));
  }
  const floors = new Map<ImportName, number>();
  await withMigratedDatabase(async (db) => {
    for (const [name, kind] of ALL) floors.set(name, await time(kind.rows, () => insertAll(db, kind)));
  });
  await withMigratedDatabase(async (_, url) => {
    const { db, close } = openPostgres(url);
    for (const [kind, { rows, wanted }] of ALL) {
      const memory = watchMemory();
      const before = process.cpuUsage();
      const perSecond = await time(rows, () => importAll(db, kind));
      const grown = memory.stop();
      const { user, system } = process.cpuUsage(before);
      const floor = floors.get(kind) ?? 0;
      console.log(
        `${kind}: ${perSecond.toFixed(0)} rows a second, ${(perSecond / floor).toFixed(2)} of bare inserts (${floor.toFixed(0)}); ${grown.toFixed(0)} MB more; ${((user + system) / rows).toFixed(0)} µs of CPU time per row, without the server`,
      );
      if (perSecond < Math.min(wanted, floor / 2) || grown > MOST_MEMORY_MB) process.exitCode = 1;
    }
    await close();
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Measures how fast the work writes rows. @returns rows per second */
async function time(rows: number, work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return (rows * 1000) / (performance.now() - begun);
}

async function insertAll(db: Database, { rows, insert }: Kind): Promise<void> {
  for (let first = 1; first <= rows; first += AT_ONCE) {
    const last = Math.min(first + AT_ONCE - 1, rows);
    await db.execute(insert(sql`from generate_series(${first}::int, ${last}::int) n`));
  }
}

async function importAll(db: Database, kind: ImportName): Promise<void> {
  const deps = {
    db,
    now: () => new Date(),
    timeZone: 'UTC',
    actor: BENCH_ACTOR,
    signal: new AbortController().signal,
  };
  const options = { map: new Map(), constants: new Map(), dryRun: false };
  const listener = {
    onProblem: (line: number, column: string | null, message: string) => {
      throw new Error(`line ${line}, ${column}: ${message}`);
    },
    onProgress: () => {},
    onLeftOut: () => {},
  };
  await importFile(deps, kind, join(folder, `${kind}.csv`), options, listener);
}

/** Samples the memory of this process. `stop` returns the largest growth in megabytes. */
function watchMemory(): { stop(): number } {
  const inUse = () => process.memoryUsage().rss / 2 ** 20;
  const before = inUse();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, inUse());
  }, 200);
  return {
    stop: () => {
      clearInterval(timer);
      return most - before;
    },
  };
}
