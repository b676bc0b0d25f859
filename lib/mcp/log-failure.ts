import { pgErrorCode } from '@/db/database';
import { stackOf } from '../log';
import type { Runtime } from '../runtime';

/** Logs what is ours to repair; @returns the only text about it that may leave the house */
export function logFailure(runtime: Pick<Runtime, 'log' | 'newId'>, error: unknown, message: string): string {
  const ref = runtime.newId();
  runtime.log.error({ ref, code: pgErrorCode(error), stack: stackOf(error) }, message);
  return `Internal error (ref ${ref}). Try again later.`;
}
