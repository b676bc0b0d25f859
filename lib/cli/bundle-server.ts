import { build } from 'esbuild';

/**
 * Makes plain JavaScript of what `npm start` runs. Packages stay where they are installed.
 *
 * @param folder of the product
 */
export async function bundleServer(folder = process.cwd()): Promise<void> {
  await build({
    absWorkingDir: folder,
    entryPoints: ['lib/cli/server.ts', 'lib/cli/start.ts'],
    outdir: 'dist',
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node20.20',
    format: 'esm',
    logLevel: 'warning',
  });
}
