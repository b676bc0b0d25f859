/** Sentences for error codes: SQLSTATEs, codes of Stripe's errors, and our own codes. The first match applies. */
const TEXTS: [pattern: RegExp, text: string][] = [
  [/^40...$/, 'The same records kept changing in the meantime.'],
  [/^23...$/, 'It violates a database constraint.'],
  [/^22...$|^UnstorableError$/, 'It contains a value that cannot be stored.'],
  [/^55P03$|^57014$/, 'The database took too long.'],
  [/^stripe_rate_limit/, 'Stripe’s rate limit was reached.'],
  [/^stripe_(connection|timeout)/, 'Stripe did not answer in time.'],
  [/^stripe_(authentication|permission)/, 'Stripe refused our API key.'],
  [/^(stripe_|invalid_answer$)/, 'Stripe answered with an error.'],
  [/^abandoned$/, 'Its process ended, and it was not resumed in time.'],
];

/** Returns a sentence that explains the error code of a failed event, run or check. */
export function failureText(code: string | null): string {
  const [, text] = TEXTS.find(([pattern]) => pattern.test(code ?? '')) ?? [];
  return text ?? 'Unexpected error; see the log.';
}
