import { afterAll, vi } from 'vitest';
import { setRuntime } from '@/lib/runtime';
import { restartNumbers } from './factories';

// The files of a worker share one process. Each leaves it as it found it.
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

/** What the product keeps in a process without regard to a database or a runtime, by its name in `perProcess`. */
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
