import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundleServer } from '@/lib/cli/bundle-server';
import { NEXT, productionEnv } from '../support/next-build';

const PRODUCT = [
  'app',
  'db',
  'instrumentation.ts',
  'lib',
  'next.config.ts',
  'package.json',
  'postcss.config.mjs',
  'proxy.ts',
  'tsconfig.json',
];

/**
 * Builds a copy of the product that has the routes to compare with, which the product itself must not
 * ship. The copy is below the project, so that it finds node_modules; Git does not see .data.
 *
 * @param added paths in the copy, and the addresses of the files to put there
 */
export async function buildCopy(added: Record<string, string>): Promise<{ folder: string; remove(): void }> {
  mkdirSync(join(NEXT.cwd, '.data'), { recursive: true });
  const folder = mkdtempSync(join(NEXT.cwd, '.data/bench-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  for (const name of PRODUCT) cpSync(join(NEXT.cwd, name), join(folder, name), { recursive: true });
  for (const [path, file] of Object.entries(added)) cpSync(new URL(file), join(folder, path));
  const { status, stdout, stderr } = spawnSync(process.execPath, [NEXT.bin, 'build'], {
    cwd: folder,
    env: productionEnv(),
    encoding: 'utf8',
  });
  if (status === 0) {
    await bundleServer(folder);
    return { folder, remove };
  }
  remove();
  throw new Error(`the build failed\n${stdout}${stderr}`);
}
