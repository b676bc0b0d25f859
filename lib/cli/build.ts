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
/** One of the last files that a build writes. If it is missing, the build was interrupted. */
const MARKER = '.next/export-marker.json';
/** Folder of the build's lock. It is outside of `.next`, because a build empties `.next`. */
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
 * Makes the production build, without checking types, if the build is missing or older than a source file. If several
 * processes call it, one builds and the others wait.
 *
 * @param announce function that is called before a build, which takes about a minute
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
    // Set the time of the build to just after its newest source. A source that is saved during the build then counts as
    // newer.
    const read = (newest + 1) / 1000;
    for (const output of OUTPUTS) utimesSync(output, read, read);
  } finally {
    unlock();
  }
}

async function buildProduct(): Promise<void> {
  const env = { ...inheritedEnv(), NODE_ENV: 'production', BUILD_WITHOUT_TYPES: '1' } as const;
  const child = startNext(['build'], { env, stdio: 'pipe' });
  const output = Promise.all([child.stdout, child.stderr].map((stream) => (stream ? text(stream) : '')));
  const { code, stopped } = await untilExit(child);
  if (code === 0) return bundleServer();
  rmSync(BUILD_ID, { force: true });
  if (stopped) throw new StartError(['Stopped while building.']);
  throw new StartError([(await output).join('').trim(), 'The build failed, see above.']);
}

function isStale(newest: number): boolean {
  if (!existsSync(MARKER)) return true;
  return OUTPUTS.some((output) => !existsSync(output) || statSync(output).mtimeMs <= newest);
}

/**
 * Returns the time of the latest change to a source, in milliseconds since the epoch. Also checks folders, to notice
 * deleted files.
 */
function newestSource(): number {
  const paths = SOURCES.filter((path) => existsSync(path)).flatMap((path) => [
    path,
    ...(statSync(path).isDirectory() ? filesBelow(path) : []),
  ]);
  return Math.max(...paths.map((path) => statSync(path).mtimeMs));
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
}

/** The programs that run without development packages. */
export const PROGRAMS = ['server', 'start', 'run', 'restore'].map((name) => `lib/cli/${name}.ts`);

/** esbuild options that bundle TypeScript into plain JavaScript for Node. */
export const BUNDLE = {
  bundle: true,
  /**
   * Packages that are not bundled. Some read files of their own, are CommonJS or are patched. Our server and Next must
   * load the others as the same module (`serverExternalPackages`), so that pages recognize their errors by class.
   */
  external: [
    '@e-invoice-eu/core',
    '@electric-sql/pglite',
    '@next/env',
    '@opentelemetry/*',
    '@vercel/functions',
    'fontkit',
    'next',
    'nodemailer',
    'pdfkit',
    'pino',
    'postgres',
    'prom-client',
    'stripe',
  ] as string[],
  platform: 'node',
  target: 'node20.20',
  format: 'esm',
  logLevel: 'warning',
} as const;

/**
 * Bundles the code of `npm start` and of the commands into plain JavaScript. Most packages are bundled too, because
 * finding and reading hundreds of small files would delay the server's first response. Bundled packages are listed as
 * development dependencies, so that a production install omits them.
 *
 * @param folder root folder of the product
 */
export async function bundleServer(folder = process.cwd()): Promise<void> {
  await build({
    ...BUNDLE,
    absWorkingDir: folder,
    entryPoints: PROGRAMS,
    outdir: 'dist',
  });
}
