import type { Actor } from '../../audit/audit-log';
import type { SyncDeps } from '../sync-deps';
import { confirmLinks, type LinkResult } from './link-proposals';
import { readUnconfirmedLinks } from './unconfirmed-links';

/** @param signal ends it after a batch. @param onBatch told what came of each link */
export async function linkByEmail(
  deps: SyncDeps,
  actor: Actor,
  signal: AbortSignal,
  onBatch: (results: LinkResult[]) => void,
): Promise<void> {
  for await (const links of readUnconfirmedLinks(deps.db)) {
    if (signal.aborted) return;
    const clear = links.flatMap(({ stripe_customer_id: stripeCustomerId, from, to, is_clear }) =>
      is_clear && to !== null ? [{ stripeCustomerId, from, to }] : [],
    );
    onBatch(await confirmLinks(deps, actor, clear));
  }
}
