import { Agent } from 'node:http';
import type { Database } from '@/db/database';
import { databaseCpu, spentBetween } from '../cpu';
import { keepBusy, type Load, median, percentile } from '../load';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const ROUND_MS = Number(process.env.BENCH_ROUND_MS ?? 700);
const WARM_UP_MS = 1500;
/** Of what is warm. */
const SHORT_MS = 300;

/** One server that is asked the same as the others. */
export interface Asked {
  once(agent: Agent): Promise<unknown>;
  /** Milliseconds of a processor that the server has used. */
  cpuMs(): number;
}

export interface Figures {
  /** Of each round. */
  perSecond: number[];
  p50: number;
  p99: number;
  /** Milliseconds of a processor for each request; NaN where the process is out of sight. */
  server: number;
  database: number;
}

/** Asks each in turn, round by round, since whatever else runs on the machine slows a round's neighbours too. */
export async function measureAll(db: Database, asked: Asked[], connections: number): Promise<Figures[]> {
  const measured = asked.map((one) => ({ one, loads: [] as Load[], server: 0, database: 0 }));
  const warmUp = connections > 1 ? WARM_UP_MS : SHORT_MS;
  for (const { one } of measured) await keepAsking(one, warmUp, connections);
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const each of measured) {
      const [server, database] = [each.one.cpuMs(), await databaseCpu(db)];
      each.loads.push(await keepAsking(each.one, ROUND_MS, connections));
      each.server += each.one.cpuMs() - server;
      each.database += spentBetween(database, await databaseCpu(db));
    }
  }
  return measured.map(({ loads, server, database }) => {
    const times = loads.flatMap((load) => load.times).sort((a, b) => a - b);
    return {
      perSecond: loads.map(({ perSecond }) => perSecond),
      p50: percentile(times, 0.5),
      p99: percentile(times, 0.99),
      server: server / times.length,
      database: database / times.length,
    };
  });
}

/** Requests a second. */
export const medianOf = ({ perSecond }: Figures): number => median(perSecond);

/** The median of the rounds' ratios. */
export function ratioOf(ours: Figures, theirs: Figures): number {
  return median(ours.perSecond.map((figure, round) => figure / (theirs.perSecond[round] ?? Number.NaN)));
}

/** With connections of its own: a server may close one that has nothing to do meanwhile. */
async function keepAsking({ once }: Asked, milliseconds: number, connections: number): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  try {
    return await keepBusy(() => once(agent), milliseconds, connections);
  } finally {
    agent.destroy();
  }
}
