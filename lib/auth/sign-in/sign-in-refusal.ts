import { AppError } from '../../errors';

/** Translates better-auth's refusal into our error. */
export function toRefusal({ status, headers }: Response, wrong: string): AppError {
  if (status >= 500) {
    return new AppError('unavailable', 'Signing in does not work right now. Try again in a moment.');
  }
  if (status !== 429) return new AppError('unauthenticated', wrong);
  return tooManyAttempts(Number(headers.get('retry-after') ?? headers.get('x-retry-after') ?? 60));
}

export function tooManyAttempts(seconds: number): AppError {
  const text = `Too many attempts to sign in. Try again in ${inWords(seconds)}.`;
  return new AppError('too_many_requests', text, [], seconds);
}

function inWords(seconds: number): string {
  if (seconds < 2) return 'a second';
  if (seconds <= 90) return `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}
