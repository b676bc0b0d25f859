import { open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { databaseName, describeContents, runPgTool } from '../backup-files';
import { DATABASE_VARIABLES } from '../env';
import { StartError, withFile } from '../errors';
import { withServer } from '../open-database';
import { command, type Terminal } from './command';

/** Writes a backup file. If a server has the embedded database open, that server writes the file. */
export const backup = command({
  usage: [
    'Usage: npm run backup -- FILE',
    'Writes the whole database to a new file for npm run restore: the database of DATABASE_URL with pg_dump, or',
    'the embedded one if DATABASE_URL is unset.',
    'The file contains personal data and hashes of secrets. Only its owner can read it.',
  ],
  variables: DATABASE_VARIABLES,
  positionals: 1,
  read: (_values, [file]) => file || undefined,
  writes: (file) => file,
  async runUnopened(file, { databaseUrl, databaseUrlDirect }, terminal) {
    const url = databaseUrlDirect ?? databaseUrl;
    if (!url) return null;
    const contents = await withServer(url, describeContents);
    if (contents === null)
      throw new StartError([`Nothing was saved: ${databaseName(url)} has no tables of this service.`]);
    await write(file, terminal, `${databaseName(url)} with ${contents}`, (part) =>
      runPgTool('pg_dump', url, ['--format=custom', `--file=${part}`]),
    );
    return 0;
  },
  async run(file, { db, env, dumpDatabase }, terminal) {
    if (!dumpDatabase) throw new Error('only the embedded database is opened for a backup');
    const contents = `the embedded database in ${env.dataDir} with ${await describeContents(db)}`;
    await write(file, terminal, contents, async (part) => {
      const image = await dumpDatabase();
      await writeFile(part, new Uint8Array(await image.arrayBuffer()));
    });
    return 0;
  },
});

/** Reserves the name with an empty file, and renames the finished backup over it. Never overwrites an existing file. */
async function write(
  file: string,
  { cwd, print }: Terminal,
  contents: string,
  dump: (part: string) => Promise<void>,
): Promise<void> {
  const path = resolve(cwd, file);
  const part = `${path}.part`;
  await withFile(file, async () => {
    await (await open(path, 'wx', 0o600)).close();
    try {
      await rm(part, { force: true });
      await (await open(part, 'wx', 0o600)).close();
      await dump(part);
      await sync(part);
      await rename(part, path);
    } catch (error) {
      await Promise.all([path, part].map((one) => rm(one, { force: true })));
      throw error;
    }
  });
  const { size } = await stat(path);
  print(`${file}: ${(size / 1e6).toFixed(1)} MB, ${contents}. Keep it where others cannot read it.`);
}

async function sync(path: string): Promise<void> {
  const written = await open(path, 'r+');
  try {
    await written.sync();
  } finally {
    await written.close();
  }
}
