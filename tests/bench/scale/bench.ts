import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { commandActor } from '@/lib/audit/record-audit';
import { createAccessToken } from '@/lib/auth/tokens/manage-access-tokens';
import { buildCopy } from '../build-copy';
import { SERVER } from '../database';
import { percentile, send, type Target } from '../load';
import { measuredBy, toMarkdown, writeSection } from '../performance-page';
import { type Served, serveCopy } from '../serve';
import { GROWTH, openFilled } from './fill';
import { type Operation, operationsOf } from './operations';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 60);
/** Of what takes a second each, so many will do. */
const LONG_MS = 4000;
const HEAD = [
  'operation',
  'S: p50 / p95 / p99',
  'L: p50 / p95 / p99',
  'L/S',
  'buffers S / L',
  'HTTP p50 S / L',
  'naive p50 S / L',
  'database at S: ours / naive',
  'ours / naive',
];

/** Milliseconds; of an operation on average, what the database needed, and pages of 8 kB read from memory or disk. */
interface Figures {
  p50: number;
  p95: number;
  p99: number;
  database: number;
  buffers: number;
}
interface Measured {
  ours: Figures;
  http: Figures | null;
  naive: Figures;
}

const isWithHttp = process.env.BENCH_HTTP !== '0';
const copy = isWithHttp ? await buildCopy({}) : null;
try {
  const small = await measureAll(1);
  const large = await measureAll(GROWTH);
  const table = toTable(small, large);
  console.log(table);
  await writeSection('Lists and searches', toText(table));
} finally {
  copy?.remove();
}

async function measureAll(times: number): Promise<Map<string, Measured>> {
  const { url, handle } = await openFilled(SERVER, times);
  const { db } = handle;
  const server = copy && (await serveCopy(copy.folder, url));
  try {
    const toTarget = server && (await targetsOf(db, server));
    const measured = new Map<string, Measured>();
    for (const operation of await operationsOf(db)) {
      const naive = async () => {
        for (const statement of operation.naive) await db.execute(statement);
      };
      const target = toTarget?.(operation);
      measured.set(operation.name, {
        ours: await time(db, () => operation.run(db)),
        http: target ? await time(db, () => send(target)) : null,
        naive: await time(db, naive),
      });
      console.log(times, operation.name, measured.get(operation.name)?.ours.p50.toFixed(1));
    }
    return measured;
  } finally {
    await server?.stop();
    await handle.close();
  }
}

async function time(db: Database, run: () => Promise<unknown>): Promise<Figures> {
  // Until the server has chosen its plans; what takes seconds is not run so often.
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
  const { token } = await createAccessToken(
    db,
    {
      name: 'bench',
      scopes: ['mcp:read', 'payments:read'],
      expires_at: null,
      created_by: commandActor('bench'),
    },
    randomBytes,
  );
  const headers = {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
  };
  return ({ name, http }) => {
    if (!http) return null;
    if ('path' in http) return { name, method: 'GET', url: new URL(http.path, server.url), headers };
    const params = { name: http.tool, arguments: http.arguments };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    return { name, method: 'POST', url: new URL('/mcp', server.url), headers, body };
  };
}

function toTable(small: Map<string, Measured>, large: Map<string, Measured>): string {
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
  return toMarkdown([HEAD, ...lines]);
}

function toText(table: string): string {
  return `What the lists and searches cost, in milliseconds, on one connection: with S (10,000 customers, 30,000 services, 100,000
invoices and as many payments, 10,000 sales documents) and with L, a hundred times as many. A day of L holds 2 % of its
invoices. "Ours" goes through the product's own functions, "HTTP" through the built server (–: not measured), "naive" is the same answer
by ILIKE, count(*) and OFFSET, in the same run. Buffers are pages of 8 kB, "database" is the time PostgreSQL itself
was busy with an operation at S.

${measuredBy('scale')}

${table}
`;
}
