import { keepBusy, type Load, median, percentile } from './load';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const ROUND_MS = Number(process.env.BENCH_ROUND_MS ?? 1500);
const WARM_UP_MS = 1500;

export interface Contender {
  name: string;
  once(): Promise<unknown>;
}

/** Prints what each did. @returns each one's part of the first, the median of the rounds' ratios */
export async function compareAll(
  what: string,
  contenders: Contender[],
  connections: number,
): Promise<number[]> {
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
          .padStart(6)} a second`,
        `p50 ${percentile(times, 0.5).toFixed(1).padStart(5)} ms`,
        `p99 ${percentile(times, 0.99).toFixed(1).padStart(5)} ms`,
        `${ratios[i]?.toFixed(2)} of the first`,
      ].join('   '),
    );
  }
  return ratios;
}
