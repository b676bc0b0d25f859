/** The classes of SQLSTATE that events fail with, and the names of what Stripe answers, in words. */
const TEXTS: [pattern: RegExp, text: string][] = [
  [/^40...$/, 'Other changes of the same records kept coming in between.'],
  [/^23...$/, 'It would have broken a rule of the database.'],
  [/^22...$|^UnstorableError$/, 'A value in it is not one that we can hold.'],
  [/^55P03$|^57014$/, 'The database took too long.'],
  [/^stripe_rate_limit/, 'Stripe had been asked too often.'],
  [/^stripe_(connection|timeout)/, 'Stripe did not answer in time.'],
  [/^stripe_(authentication|permission)/, 'Stripe refused our API key.'],
  [/^(stripe_|invalid_answer$)/, 'Stripe answered with an error.'],
  [/^abandoned$/, 'The process that ran it ended, and nothing took it up in time.'],
];

/** Why something failed, in a sentence; the code stands beside it. */
export function failureText(code: string | null): string {
  const [, text] = TEXTS.find(([pattern]) => pattern.test(code ?? '')) ?? [];
  return text ?? 'Something unexpected; the log has the place.';
}
