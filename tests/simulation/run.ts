import { runProgram } from '@/lib/cli/program';
import { ProgressBar, readArguments } from '@/lib/commands/command';
import { StartError } from '@/lib/errors';
import { COUNTED, runCampaign } from './campaign';
import { describeFailure, replayHistory, type Totals } from './check-history';
import { openOwnDatabase, openStage } from './database-stage';
import { runMutants } from './mutants';
import type { Tally } from './play';
import { showPlaces } from './pure/coverage';
import { openPureStage } from './pure/pure-stage';

const USAGE = [
  'Usage: npm run simulate -- [--runs N] [--seed S] [--database URL | --pure]',
  '       npm run simulate -- --replay=SEED:PATH [--database URL | --pure]',
  '       npm run simulate -- --mutants [--database URL] [--seed S]',
  '',
  '  --runs N        the number of histories (2000)',
  '  --seed S        the seed of the campaign (1)',
  '  --database URL  a PostgreSQL server, on which deliveries race for real; otherwise databases in memory',
  '  --pure          plays decisions over a model of the database; fails if any block of them is never reached',
  '  --replay        plays one history again: the seed and path that a failure printed',
  '  --mutants       shows that the simulation finds mutations of the product; some need --database',
];

const SHRINK_MS = 120_000;
const MAX_NUMBER = 2 ** 31 - 1;
const print = (text: string) => process.stdout.write(`${text}\n`);

runProgram(async (args) => {
  const wanted = read(args);
  const { seed, server } = wanted;
  if (wanted.replay) process.exitCode = await replay(wanted.replay, wanted);
  else if (wanted.mutants) process.exitCode = (await runMutants(seed, server, print)) ? 0 : 1;
  else process.exitCode = await campaign(wanted);
});

type Wanted = ReturnType<typeof read>;

function read(args: string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const texts = { runs: text, seed: text, database: text, replay: text };
  const flags = { pure: flag, mutants: flag };
  const { values } = readArguments(args, { usage: USAGE, options: { ...texts, ...flags } });
  const { pure: isPure = false, mutants = false } = values;
  const server = values.database ?? null;
  if (server !== null && !/^postgres(ql)?:\/\/./.test(server)) {
    throw new StartError(['--database must start with postgres:// or postgresql://.']);
  }
  if (isPure && (server || mutants))
    throw new StartError(['--pure goes with neither --database nor --mutants.']);
  return {
    runs: toNumber('runs', values.runs ?? '2000', 1),
    seed: toNumber('seed', values.seed ?? '1', 0),
    replay: values.replay === undefined ? null : toReplay(values.replay),
    ...{ server, isPure, mutants },
  };
}

function toNumber(name: string, value: string, min: number): number {
  const number = /^\d{1,10}$/.test(value) ? Number(value) : -1;
  if (number >= min && number <= MAX_NUMBER) return number;
  throw new StartError([`--${name} must be a whole number from ${min} to ${MAX_NUMBER}.`]);
}

function toReplay(what: string): { seed: number; path: string } {
  const [, seed, path] = /^(-?\d+):(.*)$/.exec(what) ?? [];
  if (seed === undefined || path === undefined) {
    throw new StartError(['--replay must be SEED:PATH as a failure printed them.']);
  }
  return { seed: Number(seed), path };
}

async function campaign({ runs, seed, server, isPure }: Wanted): Promise<number> {
  const bar = new ProgressBar();
  const { totals, failure, unreached } = await runCampaign(
    { runs, seed, server, isPure, isCounted: isPure, shrinkFor: SHRINK_MS },
    (done, { deliveries, seconds }) => {
      // If stdout is not a terminal, the bar prints a line for every ten percent.
      const label = `histories (${Math.floor((done / runs) * 10)}0 %)`;
      const left = Math.round((seconds / Math.max(1, done)) * (runs - done));
      bar.show(done, runs, label, `${deliveries} deliveries, ${left} s left`);
    },
  );
  bar.end();
  const missed = totals.histories >= COUNTED ? unreached : [];
  print(summary(totals, seed, isPure ? 'pure' : server ? 'PostgreSQL' : 'in memory'));
  if (failure) print(`\nA history went wrong: ${describeFailure(failure, flagOf(isPure))}`);
  for (const line of showPlaces(unreached)) print(`never reached: ${line}`);
  if (isPure) print(`${totals.histories + Number(failure !== null)} histories, ${failure ? 1 : 0} wrong`);
  return failure || missed.length > 0 ? 1 : 0;
}

async function replay(
  { seed, path }: { seed: number; path: string },
  { server, isPure }: Pick<Wanted, 'server' | 'isPure'>,
): Promise<number> {
  const stage = isPure ? openPureStage() : await openStage(await openOwnDatabase(server));
  const checked = await replayHistory(stage, seed, path);
  await stage.close();
  const isWrong = 'failure' in checked;
  print(isWrong ? describeFailure(checked.failure, flagOf(isPure)) : 'The history ends as it must.');
  return isWrong ? 1 : 0;
}

function summary(totals: Totals, seed: number, on: string): string {
  return [
    `histories        ${totals.histories} (seed ${seed}, ${on})`,
    `deliveries       ${totals.deliveries}`,
    `crashes          ${totals.crashes}`,
    `runs in between  ${totals.runs}`,
    `rows compared    ${totals.rows}`,
    `time             ${Math.round(totals.seconds)} s`,
    `steps            ${show(totals.steps)}`,
  ].join('\n');
}

const flagOf = (isPure: boolean) => (isPure ? '--pure ' : '');

/** Formats the counts, most frequent first. */
function show(tally: Tally): string {
  return Object.entries(tally)
    .sort(([, a], [, b]) => b - a)
    .map(([kind, times]) => `${kind} ${times}`)
    .join(', ');
}
