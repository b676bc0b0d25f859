import type { Agent } from 'node:http';
import type { Database } from '@/db/database';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import { send, type Target } from '../load';
import { toolCall } from '../mcp/targets';
import { comparedOperations, type Operation as PaymentOperation } from '../payments/operations';
import { requireSameReads } from '../payments/require-same';
import type { Served } from '../serve';
import { take } from '../take';
import { linkServices, signedDelivery } from '../webhook/deliveries';
import { type EventSource, mixedEvents, subscriptionEvents } from '../webhook/events';
import { CALLS } from './record';

const SUBSCRIPTIONS = 300;
/** Those to measure, by name, while something is worked on; of a part docs/performance.md says nothing. */
const ONLY = process.env.BENCH_ONLY ? new RegExp(process.env.BENCH_ONLY) : undefined;
export const isPart = ONLY !== undefined;

/** Of the floor's requests a second, and how many times those of Next. */
const TOOLS = { ofFloor: 0.4, ofNext: 3 };
const ONE_PAYMENT = { ofFloor: 0.45, ofNext: 3 };
const PAYMENTS = { ofFloor: 0.45, ofNext: 0 };
const WRITES = { ofFloor: 0.4, ofNext: 0 };

export interface Operation {
  name: string;
  least: { ofFloor: number; ofNext: number };
  /** The same request to each server. */
  ask: ((agent: Agent) => Promise<unknown>)[];
}

/** What is measured. @throws where the servers do not answer alike */
export async function operationsOf(
  db: Database,
  deps: SyncDeps,
  servers: Pick<Served, 'url' | 'cpuMs'>[],
  token: string,
): Promise<Operation[]> {
  const doors = servers.map(({ url, cpuMs }) => ({ name: url, url: `${url}/api/w5t/payments`, cpuMs }));
  const payments = await comparedOperations(db, doors, token);
  await requireSameReads(payments);
  const calls = servers.map(({ url }) => callsOf(url, token));
  for (const [i] of CALLS.entries()) await requireAsManyRows(calls.flatMap((made) => made[i] ?? []));
  const operations = [
    ...CALLS.map(({ tool }, i) => ({
      name: `tools/call ${tool.name.replace('-tool', '')}`,
      least: TOOLS,
      ask: calls.map((made) => asking(made[i] as Target)),
    })),
    ...payments.map(ofPayments),
    ...(await deliveries(db, deps, servers)),
  ];
  return operations.filter(({ name }) => ONLY?.test(name) ?? true);
}

function callsOf(url: string, token: string): Target[] {
  return CALLS.map(({ tool, args }) =>
    toolCall(
      url,
      token,
      JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: tool.name, arguments: args },
      }),
    ),
  );
}

function ofPayments({ name, targets }: PaymentOperation): Operation {
  const least = name === 'GET one' ? ONE_PAYMENT : name.startsWith('GET') ? PAYMENTS : WRITES;
  return { name: `payments, ${name}`, least, ask: targets.map(asking) };
}

const asking = (target: Target) => (agent: Agent) => send(target, agent);

/** To each server events of its own, since the second delivery of one changes nothing. */
async function deliveries(
  db: Database,
  deps: SyncDeps,
  servers: Pick<Served, 'url'>[],
): Promise<Operation[]> {
  const streams: [string, (name: string) => EventSource][] = [
    ['distinct subscriptions', (name) => subscriptionEvents(`${name}many`, SUBSCRIPTIONS)],
    ['mixed stream', (name) => mixedEvents(`${name}mixed`)],
  ];
  const operations = streams.map(([name, open]) => {
    const sources = servers.map(({ url }, i) => ({ url, source: open(`h${i}`) }));
    const ask = sources.map(
      ({ url, source }) =>
        (agent: Agent) =>
          send(signedDelivery(url, source.next()), agent),
    );
    return { name: `webhook, ${name}`, least: WRITES, ask, sources };
  });
  const created = operations.flatMap(({ sources }) => sources.map(({ source }) => source.created));
  await Promise.all(created.map((payloads) => take(deps, payloads)));
  await linkServices(db);
  return operations;
}

/** The floor says a tool's rows in words of its own; there must be as many. */
async function requireAsManyRows(targets: Target[]): Promise<void> {
  const counts = await Promise.all(targets.map(async (target) => countRows((await send(target)).body)));
  if (new Set(counts).size > 1) throw new Error(`the servers answer other rows: ${counts.join(', ')}`);
}

function countRows(body: string): number {
  const { data, matches } = JSON.parse(body).result.structuredContent;
  return (data ?? matches ?? []).length;
}
