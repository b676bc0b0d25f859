import { Agent } from 'node:http';
import { openPostgres } from '@/db/client';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import { buildCopy } from '../build-copy';
import { type Contender, compareAll } from '../compare';
import { withSeededDatabase } from '../database';
import { CONNECTIONS, keepBusy, send } from '../load';
import { serveCopy } from '../serve';
import { benchDeps, take } from '../take';
import { linkServices, requireAllProcessed, SECRET, signedDelivery } from './deliveries';
import { type Engine, openEngine } from './engine';
import { type EventSource, mixedEvents, subscriptionEvents } from './events';
import { type Floor, openFloor } from './floor';

/** A server that has just started takes longer. */
const SERVER_WARM_UP_MS = 8000;
const LEAST_RATIO = 0.5;
const isWithHttp = process.env.BENCH_HTTP !== '0';

await withSeededDatabase(async (db, databaseUrl) => {
  // As the product opens it: so many deliveries share fewer connections.
  const { db: pooled, close } = openPostgres(databaseUrl);
  const deps = benchDeps(pooled);
  const floor = await openFloor(databaseUrl, CONNECTIONS);
  const sources = async (prefix: string) => {
    const distinct = subscriptionEvents(`${prefix}many`, 1000);
    const repeated = subscriptionEvents(`${prefix}one`, 1);
    const mixed = mixedEvents(`${prefix}mixed`);
    for (const { created } of [distinct, repeated, mixed]) await take(deps, created);
    await linkServices(db);
    return { distinct, repeated, mixed };
  };
  try {
    const ratios = await compareHandler(deps, floor, await sources('h'));
    const ahead = await compareEngine(databaseUrl, deps, floor);
    if (isWithHttp) await compareHttp(databaseUrl, floor, await sources('w'));
    await requireAllProcessed(db);
    const worst = Math.min(...ratios);
    const verdict = worst >= LEAST_RATIO ? 'it is' : 'it is NOT';
    console.log(
      `\nhandler / floor must be at least ${LEAST_RATIO} on ${CONNECTIONS} connections: ${verdict}`,
    );
    console.log(`handler / stripe-sync-engine on the mixed stream: ${ahead.toFixed(2)}`);
    if (!(worst >= LEAST_RATIO && ahead > 1)) process.exitCode = 1;
  } finally {
    await floor.close();
    await close();
  }
});

interface Sources {
  distinct: EventSource;
  repeated: EventSource;
  mixed: EventSource;
}

/** What a delivery does after its signature was checked. @returns the ratios on all connections */
async function compareHandler(deps: SyncDeps, floor: Floor, sources: Sources): Promise<number[]> {
  const ratios: number[] = [];
  for (const [what, source] of Object.entries(sources)) {
    const contenders = [
      { name: 'floor', once: await floor.writer(source) },
      { name: 'handler', once: () => take(deps, [source.next()]) },
    ];
    await compare(`Handler, ${what} objects`, contenders, 1);
    ratios.push(await compare(`Handler, ${what} objects`, contenders, CONNECTIONS));
  }
  return ratios;
}

/** Both take events as they are after the check of their signature. @returns handler / engine */
async function compareEngine(url: string, deps: SyncDeps, floor: Floor): Promise<number> {
  const [ours, theirs] = [mixedEvents('ours'), mixedEvents('theirs')];
  await take(deps, ours.created);
  const engine: Engine = await openEngine(url, CONNECTIONS);
  try {
    for (const payload of theirs.created) await engine.take(payload);
    const contenders = [
      { name: 'floor', once: await floor.writer(ours) },
      { name: 'engine', once: () => engine.take(theirs.next()) },
      { name: 'handler', once: () => take(deps, [ours.next()]) },
    ];
    const [, engineRatio = 0, ratio = 0] = await compareAll('Mixed stream', contenders, CONNECTIONS);
    return ratio / engineRatio;
  } finally {
    await engine.close();
  }
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

/** @returns handler / floor */
async function compare(what: string, contenders: Contender[], connections: number): Promise<number> {
  return (await compareAll(what, contenders, connections)).at(-1) ?? 0;
}
