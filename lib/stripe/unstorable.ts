/** Stripe names a value that no column of ours can hold; the message says which, for staff to read. */
export class UnstorableError extends Error {
  override readonly name = 'UnstorableError';
}
