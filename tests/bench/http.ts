import type { Agent } from 'node:http';
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/postgres-js';
import postgres from 'postgres';
import { openPostgres } from '@/db/client';
import { type Database, rows } from '@/db/database';
import { limitWriters } from '@/db/transaction';
import { EVERYTHING } from '@/lib/mcp/authenticate';
import { findCustomerTool, getCustomerTool, listInvoicesTool } from '@/lib/mcp/tools';
import { listPayments } from '@/lib/payments/queries';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import { benchDeps, createBenchToken, take, withFilledDatabase } from './database';
import type { Recorded } from './floor-server';
import {
  asking,
  CONNECTIONS,
  type Figures,
  measureAll,
  medianOf,
  ratioOf,
  requireNone,
  send,
  type Target,
  writeSection,
} from './measure';
import {
  type EventSource,
  linkServices,
  mixedEvents,
  otherWrites,
  paymentOperations,
  requireAllProcessed,
  requireSameReads,
  SECRET,
  signedDelivery,
  subscriptionEvents,
  toolCall,
} from './requests';
import { buildCopy, type Served, serveCopy, serveNext, serveScript } from './serve';

const ROUND_MS = 700;
const SUBSCRIPTIONS = 300;
/** If set, only operations with a matching name are measured, and docs/performance.md is not updated. */
const ONLY = process.env.BENCH_ONLY ? new RegExp(process.env.BENCH_ONLY) : undefined;

/**
 * The speed that an operation must reach, divided by another server's requests per second. `ofFloor` compares with
 * the floor on 20 connections, `alone` with the floor on one connection, and `ofNext` with Next on 20 connections.
 */
interface Least {
  ofFloor: number;
  alone?: number;
  ofNext?: number;
}
const READS: Least = { ofFloor: 0.45 };
const WRITES: Least = { ofFloor: 0.4 };
const DELIVERIES: Least = { ofFloor: 0.65, alone: 0.5 };

const CALLS = [
  {
    name: 'list-invoices',
    tool: listInvoicesTool,
    args: { per_page: 25 },
    least: { ofFloor: 0.4, ofNext: 3 },
  },
  {
    name: 'list-invoices, last page',
    tool: listInvoicesTool,
    args: { per_page: 25, page: 4000 },
    least: { ofFloor: 0.4 },
  },
  {
    name: 'find-customer',
    tool: findCustomerTool,
    args: { query: 'gmbh' },
    least: { ofFloor: 0.4, ofNext: 3 },
  },
  {
    name: 'find-customer, rare text',
    tool: findCustomerTool,
    args: { query: 'K10042' },
    least: { ofFloor: 0.35 },
  },
  {
    name: 'find-customer, no hit',
    tool: findCustomerTool,
    args: { query: 'zzzzqq' },
    least: { ofFloor: 0.35 },
  },
  { name: 'get-customer', tool: getCustomerTool, args: { id: 1 }, least: { ofFloor: 0.3, ofNext: 3 } },
];

const HEAD = [
  ...['operation', 'connections', 'requests a second', 'p50', 'p99'],
  ...["server's CPU", "database's CPU", 'ours / floor', 'ours / Next', 'ours / sync engine'],
];

console.log('Building …');
const copy = await buildCopy({});
try {
  await withFilledDatabase(async (db, url) => {
    const env = { STRIPE_WEBHOOK_SECRET: SECRET };
    const floorEnv = { ...env, BENCH_STATEMENTS: JSON.stringify(await recordStatements(url)) };
    const servers: Served[] = [];
    try {
      servers.push(await serveCopy(copy.folder, url, env));
      servers.push(await serveNext(copy.folder, url, env));
      servers.push(await serveScript(import.meta.resolve('./floor-server.ts'), url, floorEnv));
      const engineEnv = { ...env, BENCH_ENGINE: 'yes' };
      servers.push(await serveScript(import.meta.resolve('./floor-server.ts'), url, engineEnv));
      await compare(db, url, servers);
    } finally {
      await Promise.all(servers.map((server) => server.stop()));
    }
  });
} finally {
  copy.remove();
}

/** Records the statements of the product's reading operations, so that the floor can run the same ones. */
async function recordStatements(url: string): Promise<Recorded> {
  let statements: Recorded[string] = [];
  const client = postgres(url, { max: 1, debug: (_, text, values) => statements.push({ text, values }) });
  const db = drizzle({ client });
  limitWriters(db, 1);
  const record = async (run: (db: Database) => Promise<unknown>) => {
    await run(db); // The first run also queries the column types.
    statements = [];
    await run(db);
    const recorded = statements;
    statements = []; // Do not add later statements to this recording.
    return recorded;
  };
  try {
    const recorded: Recorded = { payments: await record((on) => listPayments(on, { per_page: 25 })) };
    for (const { name, tool, args } of CALLS)
      recorded[name] = await record((on) => tool.call(on, args, EVERYTHING));
    return recorded;
  } finally {
    await client.end();
  }
}

async function compare(db: Database, url: string, servers: Served[]): Promise<void> {
  const token = await createBenchToken(db, ['mcp:read', 'payments:read', 'payments:write']);
  const pool = openPostgres(url);
  const operations = await operationsOf(db, benchDeps(pool.db), servers, token).finally(pool.close);
  const [setting] = await rows<{ value: string }>(
    db,
    sql`select current_setting('synchronous_commit') as value`,
  );
  console.log(`synchronous_commit is ${setting?.value}; in each column: ours / next start / floor`);
  const results: Result[] = [];
  for (const operation of operations) {
    const contenders = operation.ask.flatMap((once, i) => {
      const cpuMs = servers[i]?.cpuMs;
      return cpuMs ? { name: operation.name, cpuMs, once } : [];
    });
    for (const connections of [CONNECTIONS, 1]) {
      const rounds = { roundMs: ROUND_MS, warmUpMs: connections > 1 ? 1500 : 300, db };
      const [ours, next, floor, engine] = (await measureAll(contenders, connections, rounds)) as [
        Figures,
        Figures,
        Figures,
        Figures?,
      ];
      const result = { operation, connections, ours, next, floor, engine };
      console.log(toLine(result).join('   '));
      results.push(result);
    }
  }
  await requireAllProcessed(db);
  const text = describe(setting?.value ?? '');
  if (!ONLY) await writeSection('Over HTTP', 'http', text, [HEAD, ...results.map(toLine)]);
  requireNone(results.flatMap(missedBy));
}

interface Operation {
  name: string;
  least: Least;
  /** One function per server that sends the request: ours, Next, the floor and, for deliveries, the sync engine. */
  ask: ((agent: Agent) => Promise<unknown>)[];
}

/** Returns the operations to measure. @throws Error if the servers answer a reading request differently */
async function operationsOf(
  db: Database,
  deps: SyncDeps,
  servers: Served[],
  token: string,
): Promise<Operation[]> {
  const compared = servers.slice(0, 3);
  const doors = compared.map(({ url, cpuMs }) => ({ name: url, url: `${url}/api/w5t/payments`, cpuMs }));
  const payments = await paymentOperations(db, doors, token);
  await requireSameReads(payments);
  const calls = CALLS.map(({ name, tool, args, least }) => ({
    name: `tools/call ${name}`,
    least,
    // The floor looks up its statements by the name of the operation, not by that of the tool.
    targets: compared.map(({ url }, i) => toolCall(url, token, i < 2 ? tool.name : name, args)),
  }));
  for (const { targets } of calls) await requireAsManyRows(targets);
  const operations = [
    ...calls.map(({ name, least, targets }) => ({ name, least, ask: targets.map(asking) })),
    ...payments.map(({ name, targets }) => {
      const least = name === 'GET one' ? { ...READS, ofNext: 3 } : name.startsWith('GET') ? READS : WRITES;
      return { name: `payments, ${name}`, least, ask: targets.map(asking) };
    }),
    ...(await otherWrites(db, doors, token)).map(({ name, ask }) => {
      const least = name === 'PATCH' ? WRITES : { ofFloor: 0.35 };
      return { name: `payments, ${name}`, least, ask };
    }),
    ...(await deliveries(db, deps, servers)),
  ];
  return operations.filter(({ name }) => ONLY?.test(name) ?? true);
}

/**
 * Compares only the row counts of the servers' answers, because the floor's rows have another shape.
 *
 * @throws Error if the counts differ
 */
async function requireAsManyRows(targets: Target[]): Promise<void> {
  const counts = await Promise.all(
    targets.map(async (target) => {
      const { data, matches } = JSON.parse((await send(target)).body).result.structuredContent;
      return (data ?? matches ?? []).length;
    }),
  );
  if (new Set(counts).size > 1) throw new Error(`the servers answer other rows: ${counts.join(', ')}`);
}

/**
 * Builds the operations for deliveries. Each server gets its own events, because a second delivery of an event changes
 * nothing.
 */
async function deliveries(db: Database, deps: SyncDeps, servers: Served[]): Promise<Operation[]> {
  const streams: [string, (name: string) => EventSource][] = [
    ['distinct subscriptions', (name) => subscriptionEvents(`${name}many`, SUBSCRIPTIONS)],
    ['mixed stream', (name) => mixedEvents(`${name}mixed`)],
  ];
  const operations = streams.map(([name, open]) => {
    const sources = servers.map((_, i) => open(`h${i}`));
    const ask = servers.map(({ url }, i) => (agent: Agent) => {
      return send(signedDelivery(url, sources[i]?.next() ?? ''), agent);
    });
    return { name: `webhook, ${name}`, least: DELIVERIES, ask, sources };
  });
  const created = operations.flatMap(({ sources }) => sources.map((source) => source.created));
  await Promise.all(created.map((payloads) => take(deps, payloads)));
  await linkServices(db);
  return operations;
}

interface Result {
  operation: Operation;
  connections: number;
  ours: Figures;
  next: Figures;
  floor: Figures;
  engine: Figures | undefined;
}

function describe(synchronousCommit: string): string {
  return `Each figure is for our server, for \`next start\` of the same build, and for a floor, in this order. The floor is a bare
node:http server with the same driver. It looks up the token, checks the webhook's signature, and runs the product's
read statements. It writes a payment with one statement, whose triggers update counts and sums. It does not validate,
decide or settle anything. Deliveries also go to Supabase's sync engine behind the floor's server. The database has
100,000 invoices. Times are in milliseconds, and CPU times are for one request. Ratios compare the requests per second,
with the lowest accepted ratio in parentheses. \`synchronous_commit\` is ${synchronousCommit}.`;
}

function toLine({ operation, connections, ours, next, floor, engine }: Result): string[] {
  const all = (read: (figures: Figures) => string) => [ours, next, floor].map(read).join(' / ');
  const toCpu = (milliseconds: number) => (Number.isNaN(milliseconds) ? '–' : milliseconds.toFixed(2));
  const { ofFloor, ofNext } = leastOf(operation, connections);
  return [
    operation.name,
    String(connections),
    all((figures) => medianOf(figures).toFixed(0)),
    all(({ p50 }) => p50.toFixed(1)),
    all(({ p99 }) => p99.toFixed(1)),
    all(({ server }) => toCpu(server)),
    all(({ database }) => toCpu(database)),
    `${ratioOf(ours, floor).toFixed(2)}${ofFloor > 0 ? ` (${ofFloor.toFixed(2)})` : ''}`,
    `${ratioOf(ours, next).toFixed(1)}${ofNext > 0 ? ` (${ofNext})` : ''}`,
    engine ? ratioOf(ours, engine).toFixed(2) : '–',
  ];
}

function leastOf({ least: { ofFloor, alone = 0, ofNext = 0 } }: Operation, connections: number) {
  return connections === 1 ? { ofFloor: alone, ofNext: 0 } : { ofFloor, ofNext };
}

/** Returns a sentence for each limit that the result misses. */
function missedBy({ operation, connections, ours, next, floor, engine }: Result): string[] {
  const { ofFloor, ofNext } = leastOf(operation, connections);
  return [
    ...(engine && connections > 1
      ? [{ name: 'the sync engine', ratio: ratioOf(ours, engine), least: 1 }]
      : []),
    { name: 'the floor', ratio: ratioOf(ours, floor), least: ofFloor },
    { name: 'next start', ratio: ratioOf(ours, next), least: ofNext },
  ]
    .filter(({ ratio, least }) => !(ratio >= least))
    .map(
      ({ name, ratio, least }) =>
        `${operation.name}, connections ${connections}: ${ratio.toFixed(2)} of ${name}, at least ${least} wanted`,
    );
}
