import { afterAll, vi } from 'vitest';
import { setRuntime } from '@/lib/runtime';
import { restartNumbers } from './factories';

// The test files of a worker share one process, so each file restores the state of the process.
afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  setRuntime(undefined);
  restartNumbers();
  for (const [name, reset] of Object.entries(RESETS)) {
    const state = (globalThis as { [key: symbol]: unknown })[Symbol.for(`w5t.${name}`)];
    if (state) reset(state as never);
  }
});

/** Functions that reset the state that the product keeps per process, keyed by the state's `perProcess` name. */
const RESETS = {
  'mcp-rate': (state: { minute: number }) => Object.assign(state, { minute: 0 }),
  'schema-doubt': (state: { isDoubted: boolean }) => Object.assign(state, { isDoubted: false }),
  stopping: (state: { isStopping: boolean }) => Object.assign(state, { isStopping: false }),
  imports: (state: { job?: unknown }) => Object.assign(state, { job: undefined }),
  'tool-calls': (state: { rows: unknown[]; timer: NodeJS.Timeout | undefined }) => {
    clearTimeout(state.timer);
    state.rows.splice(0);
    state.timer = undefined;
  },
};
