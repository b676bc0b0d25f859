import { build } from 'esbuild';

/** Makes plain JavaScript of what `npm start` runs. Packages stay where they are installed. */
export async function bundleServer(): Promise<void> {
  await build({
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
