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
import { benchDeps, createBenchToken, take, withSeededDatabase } from './database';
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
/** Measures only the operations whose name matches, and leaves docs/performance.md alone. */
const ONLY = process.env.BENCH_ONLY ? new RegExp(process.env.BENCH_ONLY) : undefined;

/** The least share of the floor's requests per second, and the least multiple of Next's. */
const TOOLS = { ofFloor: 0.4, ofNext: 3 };
const ONE_PAYMENT = { ofFloor: 0.45, ofNext: 3 };
const PAYMENTS = { ofFloor: 0.45, ofNext: 0 };
const WRITES = { ofFloor: 0.4, ofNext: 0 };

const CALLS = [
  { tool: listInvoicesTool, args: { per_page: 25 } },
  { tool: findCustomerTool, args: { query: 'gmbh' } },
  { tool: getCustomerTool, args: { id: 1 } },
];

const HEAD = [
  ...['operation', 'connections', 'requests a second', 'p50', 'p99'],
  ...["server's CPU", "database's CPU", 'ours / floor', 'ours / Next'],
];

console.log('Building …');
const copy = await buildCopy({});
try {
  await withSeededDatabase(async (db, url) => {
    const env = { STRIPE_WEBHOOK_SECRET: SECRET };
    const floorEnv = { ...env, BENCH_STATEMENTS: JSON.stringify(await recordStatements(url)) };
    const servers: Served[] = [];
    try {
      servers.push(await serveCopy(copy.folder, url, env));
      servers.push(await serveNext(copy.folder, url, env));
      servers.push(await serveScript(import.meta.resolve('./floor-server.ts'), url, floorEnv));
      await compare(db, url, servers);
    } finally {
      await Promise.all(servers.map((server) => server.stop()));
    }
  });
} finally {
  copy.remove();
}

/** Records the statements of the product's reading operations, so that the floor can run the same. */
async function recordStatements(url: string): Promise<Recorded> {
  let statements: Recorded[string] = [];
  const client = postgres(url, { max: 1, debug: (_, text, values) => statements.push({ text, values }) });
  const db = drizzle({ client });
  limitWriters(db, 1);
  const record = async (run: (db: Database) => Promise<unknown>) => {
    await run(db); // the first time also asks for types
    statements = [];
    await run(db);
    const recorded = statements;
    statements = []; // a later statement does not belong to this operation
    return recorded;
  };
  try {
    const recorded: Recorded = { payments: await record((on) => listPayments(on, { per_page: 25 })) };
    for (const { tool, args } of CALLS)
      recorded[tool.name] = await record((on) => tool.call(on, args, EVERYTHING));
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
    const contenders = servers.map(({ cpuMs }, i) => {
      const once = operation.ask[i];
      if (!once) throw new Error('an operation lacks a server');
      return { name: operation.name, cpuMs, once };
    });
    for (const connections of [CONNECTIONS, 1]) {
      const rounds = { roundMs: ROUND_MS, warmUpMs: connections > 1 ? 1500 : 300, db };
      const [ours, next, floor] = (await measureAll(contenders, connections, rounds)) as [
        Figures,
        Figures,
        Figures,
      ];
      const result = { operation, connections, ours, next, floor };
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
  least: { ofFloor: number; ofNext: number };
  /** The same request to each server. */
  ask: ((agent: Agent) => Promise<unknown>)[];
}

/** The measured operations. @throws if the servers answer differently */
async function operationsOf(
  db: Database,
  deps: SyncDeps,
  servers: Served[],
  token: string,
): Promise<Operation[]> {
  const doors = servers.map(({ url, cpuMs }) => ({ name: url, url: `${url}/api/w5t/payments`, cpuMs }));
  const payments = await paymentOperations(db, doors, token);
  await requireSameReads(payments);
  const calls = CALLS.map(({ tool, args }) => ({
    name: `tools/call ${tool.name.replace('-tool', '')}`,
    targets: servers.map(({ url }) => toolCall(url, token, tool.name, args)),
  }));
  for (const { targets } of calls) await requireAsManyRows(targets);
  const operations = [
    ...calls.map(({ name, targets }) => ({ name, least: TOOLS, ask: targets.map(asking) })),
    ...payments.map(({ name, targets }) => {
      const least = name === 'GET one' ? ONE_PAYMENT : name.startsWith('GET') ? PAYMENTS : WRITES;
      return { name: `payments, ${name}`, least, ask: targets.map(asking) };
    }),
    ...(await deliveries(db, deps, servers)),
  ];
  return operations.filter(({ name }) => ONLY?.test(name) ?? true);
}

/** @throws if a tool answers with another number of rows. The floor's rows have another shape. */
async function requireAsManyRows(targets: Target[]): Promise<void> {
  const counts = await Promise.all(
    targets.map(async (target) => {
      const { data, matches } = JSON.parse((await send(target)).body).result.structuredContent;
      return (data ?? matches ?? []).length;
    }),
  );
  if (new Set(counts).size > 1) throw new Error(`the servers answer other rows: ${counts.join(', ')}`);
}

/** Each server gets its own events, because a second delivery of an event changes nothing. */
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
    return { name: `webhook, ${name}`, least: WRITES, ask, sources };
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
}

function describe(synchronousCommit: string): string {
  return `Our server, \`next start\` of the same build, and a floor: a bare node:http server that asks PostgreSQL the same
through the same driver, looks the token up and checks the webhook's signature, but validates nothing and decides
nothing. All figures are in this order; times are in milliseconds, a processor's time is for one request, ratios are
those of the requests a second, with the least they must be. \`synchronous_commit\` is ${synchronousCommit}.`;
}

function toLine({ operation, connections, ours, next, floor }: Result): string[] {
  const all = (read: (figures: Figures) => string) => [ours, next, floor].map(read).join(' / ');
  const toCpu = (milliseconds: number) => (Number.isNaN(milliseconds) ? '–' : milliseconds.toFixed(2));
  const { ofFloor, ofNext } = operation.least;
  return [
    operation.name,
    String(connections),
    all((figures) => medianOf(figures).toFixed(0)),
    all(({ p50 }) => p50.toFixed(1)),
    all(({ p99 }) => p99.toFixed(1)),
    all(({ server }) => toCpu(server)),
    all(({ database }) => toCpu(database)),
    `${ratioOf(ours, floor).toFixed(2)} (${ofFloor.toFixed(2)})`,
    `${ratioOf(ours, next).toFixed(1)}${ofNext > 0 ? ` (${ofNext})` : ''}`,
  ];
}

/** A sentence for each limit that the result misses. */
function missedBy({ operation, connections, ours, next, floor }: Result): string[] {
  const { ofFloor, ofNext } = operation.least;
  return [
    { name: 'the floor', ratio: ratioOf(ours, floor), least: ofFloor },
    { name: 'next start', ratio: ratioOf(ours, next), least: ofNext },
  ]
    .filter(({ ratio, least }) => !(ratio >= least))
    .map(
      ({ name, ratio, least }) =>
        `${operation.name}, connections ${connections}: ${ratio.toFixed(2)} of ${name}, at least ${least} wanted`,
    );
}
