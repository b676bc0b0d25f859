import { parseArgs } from 'node:util';
import { ProgressBar } from '@/lib/commands/progress-bar';
import { runCampaign, type Totals } from './campaign';
import { type Failure, replayHistory } from './check-history';
import { openOwnDatabase } from './database';
import { runMutants } from './mutants';
import { openStage } from './stage';

const USAGE = `npm run simulate -- [--runs N] [--seed S] [--database URL] [--resume]
npm run simulate -- --replay SEED:PATH [--database URL]
npm run simulate -- --mutants [--seed S] [--database URL]

  --runs N        how many histories (2000)
  --seed S        of the campaign (1)
  --database URL  a PostgreSQL server, for deliveries that race for real; else databases in memory
  --resume        goes on with an interrupted campaign of this seed
  --replay        plays one history again: the seed and path that a failure printed
  --mutants       shows that eight mutations of the product are found
  --json          prints only the result, as one line of JSON
  --hurry         does not make a failing history smaller`;

const SHRINK_MS = 120_000;

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    database: { type: 'string' },
    resume: { type: 'boolean', default: false },
    replay: { type: 'string' },
    mutants: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    hurry: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const print = (text: string) => process.stdout.write(`${text}\n`);
const server = values.database ?? null;
const seed = Number(values.seed);

if (values.help) print(USAGE);
else if (values.replay) process.exitCode = await replay(values.replay);
else if (values.mutants) process.exitCode = (await runMutants(seed, server, print)) ? 0 : 1;
else process.exitCode = await campaign();

async function campaign(): Promise<number> {
  const runs = Number(values.runs);
  const bar = new ProgressBar();
  const { totals, failure } = await runCampaign(
    { runs, seed, server, resume: values.resume, shrinkFor: values.hurry ? 0 : SHRINK_MS },
    (done, { deliveries, seconds }) => {
      // Where there is no terminal, a line every ten percent.
      const label = `histories (${Math.floor((done / runs) * 10)}0 %)`;
      const left = Math.round((seconds / Math.max(1, done)) * (runs - done));
      if (!values.json) bar.show(done, runs, label, `${deliveries} deliveries, ${left} s left`);
    },
  );
  bar.end();
  if (values.json) print(JSON.stringify({ totals, failure }));
  else {
    print(summary(totals));
    if (failure) print(describe(failure));
  }
  return failure ? 1 : 0;
}

async function replay(what: string): Promise<number> {
  const [at = '', ...path] = what.split(':');
  const stage = await openStage(await openOwnDatabase(server));
  const checked = await replayHistory(stage, Number(at), path.join(':'));
  await stage.close();
  print('failure' in checked ? describe(checked.failure) : 'The history ends as it must.');
  return 'failure' in checked ? 1 : 0;
}

function summary(totals: Totals): string {
  return [
    `histories        ${totals.histories} (seed ${seed}, ${server ? 'PostgreSQL' : 'in memory'})`,
    `deliveries       ${totals.deliveries}`,
    `crashes          ${totals.crashes}`,
    `runs in between  ${totals.runs}`,
    `rows compared    ${totals.rows}`,
    `ties exempt      ${totals.ties}`,
    `time             ${Math.round(totals.seconds)} s`,
  ].join('\n');
}

function describe(failure: Failure): string {
  return `\nA history went wrong: ${failure.error}\n${failure.report}\n\nAgain: npm run simulate -- --replay ${failure.seed}:${failure.path}`;
}
