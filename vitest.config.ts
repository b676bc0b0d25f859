import { defineConfig } from 'vitest/config';

const alias = { '@': import.meta.dirname };

export default defineConfig({
  resolve: { alias },
  test: {
    globalSetup: ['tests/support/global-setup.ts'],
    setupFiles: process.env.TEST_THROUGH === 'next' ? ['tests/support/next-globals.ts'] : [],
    include: ['tests/**/*.test.ts', 'tests/**/*.test.tsx'],
    testTimeout: 60_000,
    // A page on a busy machine comes to show what it should a little later.
    expect: { poll: { timeout: 15_000 } },
    hookTimeout: 60_000,
    // A PGlite instance takes some 300 MB; two cores are what CI has.
    maxWorkers: 2,
  },
});
