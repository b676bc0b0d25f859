import { access, readFile } from 'node:fs/promises';
import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { databaseName, describeContents, runPgTool } from '../backup-files';
import { readArguments } from '../commands/command';
import { DATABASE_VARIABLES, readEnv } from '../env';
import { StartError, withFile } from '../errors';
import { restoreDatabase, withServer } from '../open-database';
import { runProgram } from './program';

const USAGE = [
  'Usage: npm run restore -- FILE',
  'Restores a file of npm run backup into the empty database of DATABASE_URL, with pg_restore. If DATABASE_URL is unset,',
  'restores it as the embedded database of a DATA_DIR that has none.',
];

runProgram(async (args) => {
  const { positionals } = readArguments(args, { usage: USAGE, positionals: 1 });
  const [file] = positionals;
  if (!file) throw new StartError(USAGE);
  const { databaseUrl, databaseUrlDirect, dataDir } = readEnv(DATABASE_VARIABLES);
  const url = databaseUrlDirect ?? databaseUrl;
  if (url) return restoreServer(url, file);
  await restoreDatabase(dataDir, file, await withFile(file, () => readFile(file)));
  console.log(`Restored into ${dataDir}.`);
});

async function restoreServer(url: string, file: string): Promise<void> {
  await withFile(file, () => access(file));
  if (!(await withServer(url, isEmpty))) {
    throw new StartError([
      `Nothing was restored: ${databaseName(url)} already contains tables. Restore into an empty database.`,
    ]);
  }
  await runPgTool('pg_restore', url, ['--no-owner', '--no-privileges', '--single-transaction', file]);
  console.log(`Restored ${await withServer(url, describeContents)} into ${databaseName(url)}.`);
}

async function isEmpty(db: Database): Promise<boolean> {
  const found = await rows(
    db,
    sql`select from pg_tables where schemaname not in ('pg_catalog', 'information_schema') limit 1`,
  );
  return found.length === 0;
}
