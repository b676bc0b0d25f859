import { readFile, writeFile } from 'node:fs/promises';
import { openInMemory } from '@/db/client';
import { migrate } from '@/db/migrate';
import { seedDatabase } from '@/db/seed';
import { runProgram } from '@/lib/cli/program';
import { readArguments } from '@/lib/commands/command';
import { addSection, measureModel, summarize } from './measure-model';
import { TIME_ZONE, TODAY } from './question';
import { QUESTIONS } from './questions';
import { addEvaluationRows } from './rows';
import { NEEDED, readSettings } from './settings';

const DOCUMENT = new URL('../../docs/evaluation.md', import.meta.url);

const USAGE = [
  'Usage: npm run eval',
  'Asks a model the questions of tests/evaluation, and writes its results into docs/evaluation.md.',
  ...NEEDED,
];

runProgram(async (args) => {
  readArguments(args, { usage: USAGE, positionals: 0 });
  const { model, date } = readSettings(process.env);
  const handle = await openInMemory();
  await migrate(handle);
  await seedDatabase(handle.db, { today: TODAY, timeZone: TIME_ZONE });
  await addEvaluationRows(handle.db);
  const measured = await measureModel(handle.db, model, QUESTIONS, console.log);
  const title = `${model.name}, ${date ?? new Date().toISOString().slice(0, 10)}`;
  await writeFile(DOCUMENT, addSection(await readFile(DOCUMENT, 'utf8'), title, measured));
  await handle.close();
  console.log(summarize(measured));
});
