import { expect } from 'vitest';
import { ERROR_STATUS, type ErrorCode } from '@/lib/errors';
import type { PaymentsAnswer } from './payments-api';

/** An error as every door of ours answers it: RFC 9457, not to be kept, and to be found in the log. */
export function expectProblem(answer: PaymentsAnswer, code: ErrorCode): void {
  expect(answer.body).toMatchObject({ type: `urn:w5t:error:${code}`, status: ERROR_STATUS[code] });
  expect(answer.body).toMatchObject({ title: expect.any(String), detail: expect.any(String) });
  expect(answer.status).toBe(ERROR_STATUS[code]);
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('x-request-id')).toMatch(/^[\w-]{16,}$/);
}
