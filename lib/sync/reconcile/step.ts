import type { SyncDeps } from '../sync-deps';

/** What a step of the daily job needs that asks Stripe. */
export type StripeDeps = SyncDeps & { stripe: NonNullable<SyncDeps['stripe']> };

/** Rows of ours that a step takes at once. */
export const STEP_PAGE = 100;

/** Where a step goes on after a page of our own rows; null when that was the last. */
export function nextAfter(page: { id: number | string }[]): string | null {
  return page.length === STEP_PAGE ? String(page.at(-1)?.id) : null;
}
