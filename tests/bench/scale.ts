import { performance } from 'node:perf_hooks';
import { type SQL, sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { findCustomers } from '@/lib/customers/find-customers';
import { findSimilar } from '@/lib/customers/similar';
import { listInvoices, summarizeInvoices } from '@/lib/invoices/list';
import { EVERYTHING } from '@/lib/mcp/authenticate';
import { getCustomerTool } from '@/lib/mcp/tools';
import { getMoneyReceived, sumOpenInvoices } from '@/lib/overview/money';
import { listPayments } from '@/lib/payments/queries';
import { listSalesDocuments } from '@/lib/sales-documents/queries';
import { listServices } from '@/lib/services/queries';
import { createBenchToken, SERVER } from './database';
import { percentile, send, type Target, toMarkdown, writeSection } from './measure';
import { toolCall } from './requests';
import { GROWTH, openFilled } from './scale-fill';
import { buildCopy, type Served, serveCopy } from './serve';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 60);
/** Time limit for all rounds of an operation, in milliseconds. A slow operation gets fewer rounds. */
const LONG_MS = 4000;
const HEAD = [
  ...['operation', 'S: p50 / p95 / p99', 'L: p50 / p95 / p99', 'L/S', 'buffers S / L', 'HTTP p50 S / L'],
  ...['naive p50 S / L', 'database at S: ours / naive', 'ours / naive'],
];

interface Figures {
  p50: number;
  p95: number;
  p99: number;
  /** Milliseconds per operation that the database was busy. */
  database: number;
  /** Pages of 8 kB per operation, read from memory or disk. */
  buffers: number;
}
interface Measured {
  ours: Figures;
  http: Figures | null;
  naive: Figures;
}

type List = (db: Database, filters: object) => Promise<{ total: number }>;

interface Listed {
  table: string;
  /**
   * Name of the list tool. Empty for the payments, which are listed over the payments API and without their customers.
   */
  tool: string;
  list: List;
  order: string;
}

const LISTS: Record<string, Listed> = {
  invoices: {
    table: 'invoices',
    tool: 'list-invoices-tool',
    list: listInvoices,
    order: 'l.invoice_date desc, l.id desc',
  },
  payments: { table: 'payments', tool: '', list: listPayments, order: 'l.payment_date desc, l.id desc' },
  services: {
    table: 'customer_services',
    tool: 'list-services-tool',
    list: listServices,
    order: 'l.service_number',
  },
  'sales documents': {
    table: 'sales_documents',
    tool: 'list-sales-documents-tool',
    list: listSalesDocuments,
    order: 'l.document_date desc, l.id desc',
  },
};

/** Date columns that a list is ordered by if a filter uses them. */
const OTHER_DAYS = ['due_date', 'next_billing_date', 'valid_until'];

const copy = await buildCopy({});
try {
  const small = await measureAll(1);
  const large = await measureAll(GROWTH);
  const table = toTable(small, large);
  console.log(toMarkdown(table));
  await writeSection('Lists and searches', 'scale', describe(), table);
} finally {
  copy.remove();
}

async function measureAll(times: number): Promise<Map<string, Measured>> {
  const { url, handle } = await openFilled(SERVER, times);
  const { db } = handle;
  const server = await serveCopy(copy.folder, url);
  try {
    const toTarget = await targetsOf(db, server);
    const measured = new Map<string, Measured>();
    for (const operation of await operationsOf(db)) {
      const naive = async () => {
        for (const statement of operation.naive) await db.execute(statement);
      };
      const target = toTarget(operation);
      measured.set(operation.name, {
        ours: await time(db, () => operation.run(db)),
        http: target ? await time(db, () => send(target)) : null,
        naive: await time(db, naive),
      });
      console.log(times, operation.name, measured.get(operation.name)?.ours.p50.toFixed(1));
    }
    return measured;
  } finally {
    await server.stop();
    await handle.close();
  }
}

async function time(db: Database, run: () => Promise<unknown>): Promise<Figures> {
  // PostgreSQL needs some runs to choose its plans. A slow operation gets fewer runs.
  const warm = performance.now() + LONG_MS;
  for (let i = 0; i < 6 && performance.now() < warm; i += 1) await run();
  const before = await spentBy(db);
  const times: number[] = [];
  const until = performance.now() + LONG_MS;
  while (times.length < ROUNDS && performance.now() < until) {
    const begun = performance.now();
    await run();
    times.push(performance.now() - begun);
  }
  const after = await spentBy(db);
  const database = (after.database - before.database) / times.length;
  const buffers = (after.buffers - before.buffers) / times.length;
  times.sort((a, b) => a - b);
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => percentile(times, share)) as [
    number,
    number,
    number,
  ];
  return { p50, p95, p99, database, buffers };
}

async function spentBy(db: Database): Promise<Pick<Figures, 'database' | 'buffers'>> {
  await db.execute(sql`select pg_stat_force_next_flush()`);
  await db.execute(sql`select pg_stat_clear_snapshot()`);
  const [found] = await rows<Pick<Figures, 'database' | 'buffers'>>(
    db,
    sql`select active_time as database, (blks_hit + blks_read)::float as buffers
      from pg_stat_database where datname = current_database()`,
  );
  if (!found) throw new Error('the database has no statistics');
  return found;
}

async function targetsOf(db: Database, server: Served): Promise<(operation: Operation) => Target | null> {
  const token = await createBenchToken(db, ['mcp:read', 'payments:read']);
  return ({ name, http }) => {
    if (!http) return null;
    if ('tool' in http) return { ...toolCall(server.url, token, http.tool, http.arguments), name };
    const headers = { Authorization: `Bearer ${token}` };
    return { name, method: 'GET', url: new URL(http.path, server.url), headers };
  };
}

function toTable(small: Map<string, Measured>, large: Map<string, Measured>): string[][] {
  const ms = (figure: number) => (figure < 10 ? figure.toFixed(1) : Math.round(figure).toLocaleString('en'));
  const three = ({ p50, p95, p99 }: Figures) => [p50, p95, p99].map(ms).join(' / ');
  const lines = [...small].map(([name, s]) => {
    const l = large.get(name) as Measured;
    return [
      name,
      three(s.ours),
      three(l.ours),
      (l.ours.p50 / s.ours.p50).toFixed(1),
      `${Math.round(s.ours.buffers)} / ${Math.round(l.ours.buffers)}`,
      s.http && l.http ? `${ms(s.http.p50)} / ${ms(l.http.p50)}` : '–',
      `${ms(s.naive.p50)} / ${ms(l.naive.p50)}`,
      `${ms(s.ours.database)} / ${ms(s.naive.database)}`,
      (s.ours.database / s.naive.database).toFixed(2),
    ];
  });
  return [HEAD, ...lines];
}

function describe(): string {
  return `The time of lists and searches in milliseconds, on one connection. Database S has 10,000 customers, 30,000 services,
100,000 invoices, 100,000 payments and 10,000 sales documents. L has a hundred times as many, and one of its days holds
2 % of its invoices. "Ours" calls the product's own functions. "HTTP" calls the built server (–: not measured). "Naive"
gets the same answer with ILIKE, count(*) and OFFSET in the same run. Buffers are pages of 8 kB. "Database" is the time
that PostgreSQL itself spent on an operation at S.`;
}

interface Operation {
  name: string;
  /** Runs the operation with the product's own functions. */
  run(db: Database): Promise<unknown>;
  /** Statements that return the same answer with ILIKE, count(*) and OFFSET. */
  naive: SQL[];
  /** The same request to the MCP server or the payments API. Null if not measured over HTTP. */
  http: { tool: string; arguments: object } | { path: string } | null;
}

async function operationsOf(db: Database): Promise<Operation[]> {
  const lists: [string, string, Record<string, string>, page?: 'last' | 'middle'][] = [
    ['invoices', 'first page', {}],
    ['invoices', 'status sent', { status: 'sent' }],
    ['invoices', 'one year', { invoice_date_from: '2021-01-01', invoice_date_to: '2021-12-31' }],
    ['invoices', 'sent since 2020', { status: 'sent', invoice_date_from: '2020-01-01' }],
    ['invoices', 'middle page', {}, 'middle'],
    ['invoices', 'last page', {}, 'last'],
    ['invoices', 'of a customer', { customer_id: '17' }],
    ['invoices', 'due in a month', { due_date_from: '2021-05-01', due_date_to: '2021-05-31' }],
    ['invoices', 'sent, due since 2020', { status: 'sent', due_date_from: '2020-01-01' }],
    [
      'invoices',
      'unpaid, due in a month',
      { statuses: '{sent,overdue}', due_date_from: '2021-05-01', due_date_to: '2021-05-31' },
    ],
    ['invoices', 'one number', { number: 'R-77777' }],
    ['payments', 'first page', {}],
    ['payments', 'middle page', {}, 'middle'],
    ['payments', 'last page', {}, 'last'],
    ['payments', 'failed, last page', { status: 'failed' }, 'last'],
    ['payments', 'one reference', { payment_reference: 'PAY-77777' }],
    ['services', 'first page', {}],
    ['services', 'active hosting', { status: 'active', service_type: 'hosting' }],
    ['services', 'last page', {}, 'last'],
    [
      ...(['services', 'active, billed in a month'] as const),
      { status: 'active', next_billing_date_from: '2026-12-01', next_billing_date_to: '2026-12-31' },
    ],
    ['sales documents', 'first page', {}],
    ['sales documents', 'sent offers', { type: 'offer', status: 'sent' }],
    ['sales documents', 'last page', {}, 'last'],
    [
      'sales documents',
      'expiring in a month',
      { valid_until_from: '2021-05-01', valid_until_to: '2021-05-31' },
    ],
  ];
  const made = lists.map(([name, what, filters, page]) => listed(db, name, what, filters, page));
  const searches = ['gmbh', 'Müller', 'druckerei 3', 'K10042', 'zzzzqq', 'an', 'qx'].map(searched);
  const customer = { id: 17 };
  const monthly = { status: 'overdue', due_date_from: '2021-06-01', due_date_to: '2021-06-30' } as const;
  const similar = ['%weber%', '%ada%'].map((text) => sql`unaccented(search_text) like ${text}`);
  return [
    ...(await Promise.all(made)),
    ...searches,
    {
      name: 'find-customer, similar to "weber, ada"',
      run: (on) => findSimilar(on, 'weber, ada'),
      naive: [
        sql`select * from customers where ${sql.join(similar, sql` and `)} order by customer_number limit 5`,
      ],
      http: null,
    },
    {
      name: 'invoices, summary of those due in a month',
      run: (on) => summarizeInvoices(on, monthly),
      naive: [
        sql`select currency, status, count(*), sum(total), sum(amount_due) from invoices
          where status = 'overdue' and due_date between '2021-06-01' and '2021-06-30' group by 1, 2`,
      ],
      http: { tool: 'list-invoices-tool', arguments: { ...monthly, summary: true } },
    },
    {
      name: 'overview, received in 365 days',
      run: (on) => getMoneyReceived(on, { today: '2026-11-22', timeZone: 'UTC' }, 365),
      naive: [
        sql`select currency, payment_date, count(*), sum(amount) from payments
          where status = 'completed' and payment_date > '2025-11-22' group by 1, 2`,
      ],
      http: null,
    },
    {
      name: 'overview, open invoices',
      run: sumOpenInvoices,
      naive: [
        sql`select currency, count(*), sum(amount_due) from invoices where status in ('sent', 'overdue') group by 1`,
      ],
      http: null,
    },
    {
      name: 'get-customer',
      run: (on) => getCustomerTool.call(on, customer, EVERYTHING),
      naive: [
        sql`select * from customers where id = 17`,
        sql`select currency, count(*), sum(amount_due) from invoices
          where customer_id = 17 and status in ('sent', 'overdue') group by 1`,
        ...['count(*)', '*'].flatMap((what) => [
          sql`select ${sql.raw(what)} from sales_documents where customer_id = 17
            and status in ('draft', 'sent', 'accepted')`,
          sql`select ${sql.raw(what)} from customer_services where customer_id = 17 and status = 'active'`,
        ]),
      ],
      http: { tool: 'get-customer-tool', arguments: customer },
    },
  ];
}

async function listed(
  db: Database,
  name: string,
  what: string,
  texts: Record<string, string>,
  which?: 'last' | 'middle',
): Promise<Operation> {
  const { table, tool, list, order } = LISTS[name] as Listed;
  const filters = {
    ...texts,
    ...(texts.customer_id && { customer_id: Number(texts.customer_id) }),
    ...(texts.statuses && { statuses: texts.statuses.slice(1, -1).split(',') }),
  };
  const { total } = await list(db, filters);
  const last = Math.max(1, Math.ceil(total / 25));
  const page = which === 'last' ? last : which === 'middle' ? Math.ceil(last / 2) : 1;
  const wanted = { ...filters, page };
  const where = sql.join(
    [sql`true`, ...Object.entries(texts).map(([column, value]) => toCondition(column, value))],
    sql` and `,
  );
  const from = sql.raw(table);
  const day = OTHER_DAYS.find((name) => Object.keys(texts).some((key) => key.startsWith(name)));
  const inOrder = sql.raw(day ? `l.${day} desc, l.id desc` : order);
  const customers = tool ? sql`join customers c on c.id = l.customer_id` : sql``;
  return {
    name: `${name}, ${what}`,
    run: (on) => list(on, wanted),
    naive: [
      sql`select count(*) from ${from} l where ${where}`,
      sql`select l.* from ${from} l ${customers} where ${where} order by ${inOrder}
        limit 25 offset ${(page - 1) * 25}`,
    ],
    http: tool
      ? { tool, arguments: wanted }
      : {
          path: `/api/w5t/payments?${new URLSearchParams(Object.entries(wanted).map(([k, v]) => [k, String(v)]))}`,
        },
  };
}

function toCondition(column: string, value: string): SQL {
  if (column === 'statuses') return sql`l.status::text = any(${value}::text[])`;
  const [name, end] = column.split(/_(?=from$|to$)/);
  const compared = end === 'from' ? '>=' : end === 'to' ? '<=' : '=';
  return sql`${sql.raw(`l.${name} ${compared}`)} ${value}`;
}

function searched(query: string): Operation {
  const pattern = `%${query}%`;
  return {
    name: `find-customer, "${query}"`,
    run: (db) => findCustomers(db, query),
    naive: [
      sql`select * from customers where customer_number ilike ${pattern} or email ilike ${pattern}
        or first_name ilike ${pattern} or last_name ilike ${pattern} or company ilike ${pattern}
        or first_name || ' ' || last_name ilike ${pattern} order by customer_number limit 26`,
    ],
    http: { tool: 'find-customer-tool', arguments: { query } },
  };
}
