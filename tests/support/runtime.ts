import { createHash } from 'node:crypto';
import type { Database } from '@/db/database';
import { type Env, parseEnv } from '@/lib/env';
import { createLogger } from '@/lib/log';
import type { Runtime } from '@/lib/runtime';

export interface TestRuntime extends Runtime {
  /** Sets the clock. Between two calls, the clock does not advance. */
  setNow(instant: Date): void;
}

/** Creates a runtime on a test database with a fixed clock and seeded randomness. */
export function testRuntime(
  db: Database,
  options: { env?: Record<string, string>; now?: Date; stripe?: Runtime['stripe'] } = {},
): TestRuntime {
  let now = options.now ?? new Date('2026-03-15T12:00:00Z');
  let drawn = 0;
  const env: Env = parseEnv({ LOG_LEVEL: 'silent', ...options.env });
  const randomBytes = (size: number) => {
    drawn += 1;
    return createHash('shake256', { outputLength: size }).update(String(drawn)).digest();
  };
  return {
    env,
    db,
    stripe: options.stripe ?? null,
    now: () => now,
    newId: () => randomBytes(16).toString('hex'),
    randomBytes,
    log: createLogger(env.logLevel),
    close: async () => {},
    setNow: (instant) => {
      now = instant;
    },
  };
}
