import { open, rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { DATABASE_VARIABLES } from '../env-variables';
import { StartError } from '../errors';
import { withFile } from '../file-problem';
import { command } from './command';
import { readArguments } from './read-arguments';

const USAGE = [
  'Usage: npm run backup -- FILE',
  'Writes all of the embedded database into a new file, which npm run restore takes.',
  'It holds personal data and hashes of secrets: only its owner may read it.',
];

/** A file that the embedded database can be made from again; while a server runs on it, the server writes it. */
export const backup = command<{ file: string }>({
  usage: USAGE,
  variables: DATABASE_VARIABLES,
  read(args) {
    const { positionals } = readArguments(args, { usage: USAGE, positionals: 1 });
    const [file] = positionals;
    if (!file) throw new StartError(USAGE);
    return { file };
  },
  async run({ file }, { dumpDatabase }, { cwd, print }) {
    if (!dumpDatabase) {
      throw new StartError([
        'This is for the embedded database: back up the one of DATABASE_URL with pg_dump.',
      ]);
    }
    const path = resolve(cwd, file);
    const size = await withFile(file, () => write(path, dumpDatabase));
    print(`${file}: ${(size / 1e6).toFixed(1)} MB. Keep it where nobody else reads it.`);
    return 0;
  },
});

/** Whoever finds the file finds all of it. @returns its size in bytes */
async function write(path: string, dump: () => Promise<Blob>): Promise<number> {
  const part = `${path}.part`;
  const reserved = await open(path, 'wx', 0o600);
  try {
    await reserved.close();
    const image = await dump();
    const target = await open(part, 'w', 0o600);
    try {
      await target.writeFile(new Uint8Array(await image.arrayBuffer()));
      await target.sync();
    } finally {
      await target.close();
    }
    await rename(part, path);
    return image.size;
  } catch (error) {
    await Promise.all([path, part].map((one) => rm(one, { force: true })));
    throw error;
  }
}
