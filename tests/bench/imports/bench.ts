import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { sql } from 'drizzle-orm';
import { openPostgres } from '@/db/client';
import type { Database } from '@/db/database';
import { commandActor } from '@/lib/audit/record-audit';
import { importFile } from '@/lib/imports/import-file';
import type { ImportName } from '@/lib/imports/kinds';
import { withMigratedDatabase } from '../database';

// How many rows of a file go in each second, and how much memory that takes, beside the floor: the same rows by bare
// inserts of a thousand into the same tables, with their indexes and triggers.

const CUSTOMERS = Number(process.env.BENCH_CUSTOMERS ?? 100_000);
const INVOICES = CUSTOMERS * 3;
const PAYMENTS = CUSTOMERS / 2;
/** Rows a second; a payment also leaves an entry of its own in the audit log, and settles its invoice. */
const WANTED = { customers: 5000, invoices: 5000, payments: 1000 };
const MOST_MEMORY = 150;
const AT_ONCE = 1000;

const FIRST = ['Ada', 'Grace', 'Jürgen', 'Anna', 'Zoë', 'Lukas'];
const LAST = ['Müller', 'Schmidt', 'Weber', 'Strauß', 'Hoffmann'];
const customer = (n: number) =>
  [
    `K${20_000 + n}`,
    FIRST[n % 6],
    `${LAST[n % 5]} ${n % 997}`,
    n % 3 === 0 ? `${LAST[n % 4]} Druckerei ${n} GmbH` : '',
    `kunde${n}@example${n % 500}.com`,
    `+49 30 ${n}`,
    `Hauptstraße ${n % 200}`,
    String(10_000 + (n % 89_999)),
    'Berlin',
    'DE',
  ].join(',');
const invoice = (n: number) =>
  `R-${n},K${20_001 + (n % CUSTOMERS)},${n % 4 === 0 ? 'sent' : 'paid'},2026-0${1 + (n % 9)}-1${n % 9},2026-12-01,100.00,19.00,119.00`;
/** Of every second invoice: that it was imported as paid, or another part of one that was not. */
const payment = (n: number) =>
  `PAY-${n},R-${2 * n},K${20_001 + ((2 * n) % CUSTOMERS)},119.00,2026-10-1${n % 9},completed`;

const folder = mkdtempSync(join(tmpdir(), 'w5t-bench-'));
try {
  write(
    'customers',
    'customer_number,first_name,last_name,company,email,phone,street,postal_code,city,country',
    {
      rows: CUSTOMERS,
      toRow: customer,
    },
  );
  write('invoices', 'number,customer_number,status,invoice_date,due_date,subtotal,tax,total', {
    rows: INVOICES,
    toRow: invoice,
  });
  write('payments', 'payment_reference,invoice_number,customer_number,amount,payment_date,status', {
    rows: PAYMENTS,
    toRow: payment,
  });
  const floors = new Map<string, number>();
  await withMigratedDatabase(async (db) => {
    floors.set('customers', await time(CUSTOMERS, () => insertCustomers(db)));
    floors.set('invoices', await time(INVOICES, () => insertInvoices(db)));
    floors.set('payments', await time(PAYMENTS, () => insertPayments(db)));
  });
  await withMigratedDatabase(async (_, url) => {
    const { db, close } = openPostgres(url);
    for (const [kind, rows] of [
      ['customers', CUSTOMERS],
      ['invoices', INVOICES],
      ['payments', PAYMENTS],
    ] as const) {
      const memory = watchMemory();
      const before = process.cpuUsage();
      const perSecond = await time(rows, () => importAll(db, kind));
      const grown = memory.stop();
      const { user, system } = process.cpuUsage(before);
      const floor = floors.get(kind) ?? 0;
      console.log(
        `${kind}: ${perSecond.toFixed(0)} rows a second, ${(perSecond / floor).toFixed(2)} of bare inserts (${floor.toFixed(0)}); ${grown.toFixed(0)} MB more; ${((user + system) / rows).toFixed(0)} µs of a processor for each, beside the server`,
      );
      if (perSecond < Math.min(WANTED[kind], floor / 2) || grown > MOST_MEMORY) process.exitCode = 1;
    }
    await close();
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function write(
  kind: ImportName,
  header: string,
  { rows, toRow }: { rows: number; toRow(n: number): string },
) {
  const lines = Array.from({ length: rows }, (_, i) => toRow(i + 1));
  writeFileSync(join(folder, `${kind}.csv`), [header, ...lines].join('\n'));
}

async function time(rows: number, work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return (rows * 1000) / (performance.now() - begun);
}

async function importAll(db: Database, kind: ImportName): Promise<void> {
  const deps = {
    db,
    now: () => new Date(),
    timeZone: 'UTC',
    actor: commandActor('bench'),
    signal: new AbortController().signal,
  };
  const options = { map: new Map(), constants: new Map(), decimalComma: false, dryRun: false };
  const listener = {
    onProblem: (line: number, column: string | null, message: string) => {
      throw new Error(`line ${line}, ${column}: ${message}`);
    },
    onProgress: () => {},
    onLeftOut: () => {},
  };
  await importFile(deps, kind, join(folder, `${kind}.csv`), options, listener);
}

/** The most megabytes at a look, less what there were. */
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

async function insertCustomers(db: Database): Promise<void> {
  for (let first = 1; first <= CUSTOMERS; first += AT_ONCE) {
    await db.execute(sql`insert into customers
      (customer_number, first_name, last_name, company, email, phone, street, postal_code, city, country)
      select 'K' || (20000 + n), (array['Zoë','Ada','Grace','Jürgen','Anna','Lukas'])[1 + n % 6],
        (array['Müller','Schmidt','Weber','Strauß','Hoffmann'])[1 + n % 5] || ' ' || n % 997,
        case when n % 3 = 0 then 'Weber Druckerei ' || n || ' GmbH' end,
        'kunde' || n || '@example' || n % 500 || '.com', '+49 30 ' || n, 'Hauptstraße ' || n % 200,
        (10000 + n % 89999)::text, 'Berlin', 'DE'
      from generate_series(${first}::int, ${Math.min(first + AT_ONCE - 1, CUSTOMERS)}::int) n`);
  }
}

async function insertInvoices(db: Database): Promise<void> {
  for (let first = 1; first <= INVOICES; first += AT_ONCE) {
    await db.execute(sql`insert into invoices
      (number, customer_id, status, invoice_date, due_date, subtotal, tax, total, amount_paid, amount_due)
      select 'R-' || n, 1 + n % ${CUSTOMERS}::int, (case n % 4 when 0 then 'sent' else 'paid' end)::invoice_status,
        date '2026-01-10' + n % 240, '2026-12-01', 100, 19, 119, case n % 4 when 0 then 0 else 119 end,
        case n % 4 when 0 then 119 else 0 end
      from generate_series(${first}::int, ${Math.min(first + AT_ONCE - 1, INVOICES)}::int) n`);
  }
}

async function insertPayments(db: Database): Promise<void> {
  for (let first = 1; first <= PAYMENTS; first += AT_ONCE) {
    await db.execute(sql`insert into payments
      (payment_reference, invoice_id, customer_id, amount, currency, payment_date, source)
      select 'PAY-' || n, i.id, i.customer_id, 119, i.currency, date '2026-10-10' + n % 9, 'import'
      from generate_series(${first}::int, ${Math.min(first + AT_ONCE - 1, PAYMENTS)}::int) n
      join invoices i on i.number = 'R-' || 2 * n`);
  }
}
