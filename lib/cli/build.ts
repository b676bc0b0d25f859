import { existsSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { build } from 'esbuild';
import { waitForLock } from '@/db/lock';
import { StartError } from '../errors';
import { inheritedEnv } from '../inherited-env';
import { SERVER, startNext, untilExit } from './child-process';

const BUILD_ID = '.next/BUILD_ID';
const OUTPUTS = [BUILD_ID, SERVER];
/** One of the last files of a build: without it, one was broken off. */
const MARKER = '.next/export-marker.json';
/** Not below .next, which a build empties. */
const LOCK_DIR = 'node_modules/.cache/w5t-build';
const SOURCES = [
  'app',
  'db',
  'instrumentation.ts',
  'lib',
  'next.config.ts',
  'package-lock.json',
  'package.json',
  'postcss.config.mjs',
  'proxy.ts',
  'public',
  'tsconfig.json',
];

/**
 * Makes the production build, without checking types, if it is missing or older than a source. Of several processes
 * one builds and the others wait.
 *
 * @param announce is called before a build, which takes about a minute
 * @throws StartError with the compiler's message if the build fails
 */
export async function buildWhenStale(announce: () => void = () => {}): Promise<void> {
  if (!isStale(newestSource())) return;
  const unlock = await waitForLock(LOCK_DIR);
  try {
    const newest = newestSource();
    if (!isStale(newest)) return;
    announce();
    await buildProduct();
    // A source saved while the build ran is newer than what it read.
    const read = (newest + 1) / 1000;
    for (const output of OUTPUTS) utimesSync(output, read, read);
  } finally {
    unlock();
  }
}

async function buildProduct(): Promise<void> {
  const env = { ...inheritedEnv(), NODE_ENV: 'production', BUILD_WITHOUT_TYPES: '1' } as const;
  const child = startNext(['build'], { env, stdio: 'pipe' });
  const said = Promise.all([child.stdout, child.stderr].map((stream) => (stream ? text(stream) : '')));
  const { code, stopped } = await untilExit(child);
  if (code === 0) return bundleServer();
  rmSync(BUILD_ID, { force: true });
  if (stopped) throw new StartError(['Stopped while building.']);
  throw new StartError([(await said).join('').trim(), 'The build failed, see above.']);
}

function isStale(newest: number): boolean {
  if (!existsSync(MARKER)) return true;
  return OUTPUTS.some((output) => !existsSync(output) || statSync(output).mtimeMs <= newest);
}

/** In milliseconds since the epoch; folders count too, since a file may have gone. */
function newestSource(): number {
  const paths = SOURCES.filter((path) => existsSync(path)).flatMap((path) => [
    path,
    ...(statSync(path).isDirectory() ? below(path) : []),
  ]);
  return Math.max(...paths.map((path) => statSync(path).mtimeMs));
}

function below(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
}

/** How TypeScript becomes plain JavaScript for node. */
export const BUNDLE = {
  bundle: true,
  /**
   * These stay where they are installed: they look for files of their own, are CommonJS, are patched, or make
   * errors that pages know by their class, so that Next has to load the same module (`serverExternalPackages`).
   */
  external: [
    '@electric-sql/pglite',
    '@next/env',
    '@vercel/functions',
    'next',
    'pino',
    'postgres',
    'stripe',
  ] as string[],
  platform: 'node',
  target: 'node20.20',
  format: 'esm',
  logLevel: 'warning',
} as const;

/**
 * Makes plain JavaScript of what `npm start` runs. Most packages come with it: hundreds of small files take
 * longer to find and read than the server has to its first answer.
 *
 * @param folder of the product
 */
export async function bundleServer(folder = process.cwd()): Promise<void> {
  await build({
    ...BUNDLE,
    absWorkingDir: folder,
    entryPoints: ['lib/cli/server.ts', 'lib/cli/start.ts'],
    outdir: 'dist',
  });
}
