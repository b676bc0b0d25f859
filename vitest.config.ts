import { defineConfig } from 'vitest/config';
import { SlowestFirst } from './tests/support/slowest-first.ts';

const TESTS = ['tests/**/*.test.ts', 'tests/**/*.test.tsx'];
const LONG = ['tests/**/*.long.test.ts'];
const RULES = ['tests/**/*.rules.test.ts'];

const shared = {
  globalSetup: ['tests/support/global-setup.ts'],
  setupFiles: ['tests/support/next-globals.ts', 'tests/support/each-file.ts'],
  testTimeout: 60_000,
  hookTimeout: 60_000,
  // Tests wait with `expect.poll`, because `vi.waitFor` gives up after a second, even if the condition is met by then. This
  // limit only ends a wait for a condition that is never met.
  expect: { poll: { timeout: 30_000 } },
  // The files of a worker share one process, its modules and its database.
  isolate: false,
};

export default defineConfig({
  resolve: { alias: { '@': import.meta.dirname } },
  test: {
    // Each worker needs a database of about 300 MB, and the CI machine has two cores.
    maxWorkers: 2,
    reporters: ['default', './tests/support/reporter.ts'],
    sequence: { sequencer: SlowestFirst },
    projects: [
      { extends: true, test: { ...shared, name: 'product', include: TESTS, exclude: [...LONG, ...RULES] } },
      // These slow tests run only as part of `npm run test:all`.
      { extends: true, test: { ...shared, name: 'long', include: LONG } },
      // These tests need the official rules for e-invoices, which are not part of the project.
      { extends: true, test: { ...shared, name: 'rules', include: RULES, testTimeout: 1_800_000 } },
    ],
  },
});
