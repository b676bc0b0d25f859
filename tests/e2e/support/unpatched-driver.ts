import { execFileSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = join(import.meta.dirname, '../../..');
const PATCH = join(ROOT, 'patches/postgres+3.4.9.patch');

/**
 * Makes a process use the unpatched PostgreSQL driver, as after `npm ci --ignore-scripts`.
 *
 * @param folder for a copy of the driver
 * @returns environment variables for the process
 */
export function unpatchedDriver(folder: string): { NODE_OPTIONS: string } {
  cpSync(join(ROOT, 'node_modules/postgres'), join(folder, 'node_modules/postgres'), { recursive: true });
  execFileSync('git', ['apply', '--reverse', PATCH], { cwd: folder });
  const driver = pathToFileURL(join(folder, 'node_modules/postgres/src/index.js')).href;
  const resolve = `export const resolve = (name, context, next) => name === 'postgres'
    ? { url: '${driver}', format: 'module', shortCircuit: true } : next(name, context);`;
  const hooks = `data:text/javascript,${encodeURIComponent(resolve)}`;
  const file = join(folder, 'unpatched.mjs');
  writeFileSync(file, `import { register } from 'node:module'; register(${JSON.stringify(hooks)});`);
  // Node 26 prints that `register` is deprecated. Its successor does not exist in Node 20.
  return { NODE_OPTIONS: `--no-deprecation --import ${pathToFileURL(file).href}` };
}

/** The error message that a process with this driver prints when it starts. */
export const UNPATCHED =
  'The PostgreSQL driver is not patched, because npm ci ran with --ignore-scripts: run npx patch-package, then npm run build.';
