import { build } from 'esbuild';

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
