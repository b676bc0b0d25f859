/** Stripe sent a value that no column can hold. The message names it; staff read it. */
export class UnstorableError extends Error {
  override readonly name = 'UnstorableError';
}
