import { join } from 'node:path';
import { buildWhenStale } from '@/lib/cli/build';

const ROOT = join(import.meta.dirname, '../..');

/** Next's command and where to run it. */
export const NEXT = { bin: join(ROOT, 'node_modules/next/dist/bin/next'), cwd: ROOT };

/** What `npm start` runs. */
export const START = join(ROOT, 'lib/cli/start.mjs');

/** What a production process starts with: nothing of the test runner's environment, no .env secrets. */
export function productionEnv(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env;
  return { PATH, HOME, TMPDIR, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' };
}

/** Makes a production build unless there is one of the sources as they are; one build at a time. */
export const ensureBuild = () => buildWhenStale();
