import { join } from 'node:path';
import { buildWhenStale } from '@/lib/cli/build';

const ROOT = join(import.meta.dirname, '../..');

/** Next's command and its working directory. */
export const NEXT = { bin: join(ROOT, 'node_modules/next/dist/bin/next'), cwd: ROOT };

/** The script that `npm start` runs. */
export const START = join(ROOT, 'lib/cli/start.mjs');

/** Returns the environment of a production process, without the test runner's variables and the secrets of .env. */
export function productionEnv(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env;
  return { PATH, HOME, TMPDIR, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' };
}

/** Builds for production unless a build of the current sources exists. Only one build runs at a time. */
export const ensureBuild = () => buildWhenStale();
