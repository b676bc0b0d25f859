import type { SyncDeps } from '../sync-deps';

export type StripeDeps = SyncDeps & { stripe: NonNullable<SyncDeps['stripe']> };

export const STEP_PAGE = 100;

/** Null when that was the last. */
export function nextAfter(page: { id: number | string }[]): string | null {
  return page.length === STEP_PAGE ? String(page.at(-1)?.id) : null;
}
