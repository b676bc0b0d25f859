import { Agent } from 'node:http';
import { sql } from 'drizzle-orm';
import Stripe from 'stripe';
import { openPostgres } from '@/db/client';
import { type Database, rows } from '@/db/database';
import { createLogger } from '@/lib/log';
import { toProviderEvent } from '@/lib/stripe/to-event';
import { handleEvent } from '@/lib/sync/inbox/handle-event';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import { buildCopy } from '../build-copy';
import { withSeededDatabase } from '../database';
import { CONNECTIONS, keepBusy, type Load, median, percentile, send, type Target } from '../load';
import { serveCopy } from '../serve';
import { type EventSource, subscriptionEvents } from './events';
import { type Floor, openFloor } from './floor';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const ROUND_MS = Number(process.env.BENCH_ROUND_MS ?? 1500);
const WARM_UP_MS = 1500;
/** A server that has just started takes longer. */
const SERVER_WARM_UP_MS = 8000;
const LEAST_RATIO = 0.4;
const SECRET = 'whsec_bench';

interface Contender {
  name: string;
  once(): Promise<unknown>;
}

await withSeededDatabase(async (db, databaseUrl) => {
  // As the product opens it: so many deliveries share fewer connections.
  const { db: pooled, close } = openPostgres(databaseUrl);
  const deps: SyncDeps = {
    db: pooled,
    stripe: null,
    now: () => new Date(),
    log: createLogger('error'),
    timeZone: 'UTC',
    linkByEmail: false,
  };
  const floor = await openFloor(databaseUrl, CONNECTIONS);
  const sources = async (prefix: string) => {
    const distinct = subscriptionEvents(`${prefix}many`, 1000);
    const repeated = subscriptionEvents(`${prefix}one`, 1);
    for (const { created } of [distinct, repeated]) await take(deps, created);
    await linkServices(db);
    return { distinct, repeated };
  };
  try {
    const ratios = await compareHandler(deps, floor, await sources('h'));
    await compareHttp(databaseUrl, floor, await sources('w'));
    await requireAllProcessed(db);
    const worst = Math.min(...ratios);
    const verdict = worst >= LEAST_RATIO ? 'it is' : 'it is NOT';
    console.log(
      `\nhandler / floor must be at least ${LEAST_RATIO} on ${CONNECTIONS} connections: ${verdict}`,
    );
    if (!(worst >= LEAST_RATIO)) process.exitCode = 1;
  } finally {
    await floor.close();
    await close();
  }
});

interface Sources {
  distinct: EventSource;
  repeated: EventSource;
}

/** What a delivery does after its signature was checked. @returns the ratios on all connections */
async function compareHandler(deps: SyncDeps, floor: Floor, sources: Sources): Promise<number[]> {
  const ratios: number[] = [];
  for (const [what, source] of Object.entries(sources)) {
    const once = async () => {
      const payload = source.next();
      const event = toProviderEvent(JSON.parse(payload));
      if (!event) throw new Error('no event');
      await handleEvent(deps, event, payload);
    };
    const contenders = [
      { name: 'floor', once: await floor.writer(source) },
      { name: 'handler', once },
    ];
    await compare(`Handler, ${what} objects`, contenders, 1);
    ratios.push(await compare(`Handler, ${what} objects`, contenders, CONNECTIONS));
  }
  return ratios;
}

/** The production server, with signed deliveries. */
async function compareHttp(databaseUrl: string, floor: Floor, sources: Sources): Promise<void> {
  console.log('\nBuilding …');
  const copy = await buildCopy({});
  const server = await serveCopy(copy.folder, databaseUrl, { STRIPE_WEBHOOK_SECRET: SECRET });
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  try {
    const deliver = (source: EventSource) => send(signedDelivery(server.url, source.next()), agent);
    await keepBusy(() => deliver(sources.distinct), SERVER_WARM_UP_MS, CONNECTIONS);
    for (const [what, source] of Object.entries(sources)) {
      const contenders = [
        { name: 'floor', once: await floor.writer(source) },
        { name: 'over HTTP', once: () => deliver(source) },
      ];
      await compare(`Over HTTP, ${what} objects`, contenders, 1);
      await compare(`Over HTTP, ${what} objects`, contenders, CONNECTIONS);
    }
  } finally {
    agent.destroy();
    await server.stop();
    copy.remove();
  }
}

function signedDelivery(url: string, payload: string): Target {
  const timestamp = Math.floor(Date.now() / 1000);
  const header = Stripe.webhooks.generateTestHeaderString({ payload, secret: SECRET, timestamp });
  return {
    name: 'webhook',
    method: 'POST',
    url: new URL(`${url}/api/stripe/webhook`),
    headers: { 'Content-Type': 'application/json', 'Stripe-Signature': header },
    body: payload,
  };
}

async function take(deps: SyncDeps, payloads: string[]): Promise<void> {
  for (const payload of payloads) {
    const event = toProviderEvent(JSON.parse(payload));
    if (event) await handleEvent(deps, event, payload);
  }
}

/** Each subscription bills a service, whose date moves with it. */
async function linkServices(db: Database): Promise<void> {
  await db.execute(sql`
    insert into customer_services (service_number, customer_id, service_type, status, name, price)
    select 'BENCH-' || i.id, s.customer_id, 'hosting', 'active', 'Bench', 19
    from subscription_items i join subscriptions s on s.id = i.subscription_id
    where i.customer_service_id is null and i.stripe_subscription_item_id is not null`);
  await db.execute(sql`
    update subscription_items i set customer_service_id = c.id from customer_services c
    where c.service_number = 'BENCH-' || i.id and i.customer_service_id is null`);
  await db.execute(sql`analyze`);
}

async function requireAllProcessed(db: Database): Promise<void> {
  const wrong = await rows(
    db,
    sql`select outcome, count(*) from stripe_events where outcome not in ('processed', 'stale') group by 1`,
  );
  if (wrong.length > 0) throw new Error(`not all were processed: ${JSON.stringify(wrong)}`);
}

/** Prints what each did. @returns handler / floor, the median of the rounds' ratios */
async function compare(what: string, contenders: Contender[], connections: number): Promise<number> {
  const measured = contenders.map((contender) => ({ contender, loads: [] as Load[] }));
  for (const { contender } of measured) await keepBusy(contender.once, WARM_UP_MS, connections);
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const { contender, loads } of measured) {
      loads.push(await keepBusy(contender.once, ROUND_MS, connections));
    }
  }
  console.log(`\n${what}, ${connections} connection${connections === 1 ? '' : 's'}`);
  const ratios = measured.map(({ loads }) =>
    median(loads.map(({ perSecond }, round) => perSecond / (measured[0]?.loads[round]?.perSecond ?? 0))),
  );
  for (const [i, { contender, loads }] of measured.entries()) {
    const times = loads.flatMap((load) => load.times).sort((a, b) => a - b);
    console.log(
      [
        `  ${contender.name.padEnd(10)}${median(loads.map(({ perSecond }) => perSecond))
          .toFixed(0)
          .padStart(6)} events/s`,
        `p50 ${percentile(times, 0.5).toFixed(1).padStart(5)} ms`,
        `p99 ${percentile(times, 0.99).toFixed(1).padStart(5)} ms`,
        `${ratios[i]?.toFixed(2)} of the floor`,
      ].join('   '),
    );
  }
  return ratios[1] ?? 0;
}
