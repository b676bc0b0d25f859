import type { Actor } from '../../audit/record-audit';
import type { SyncDeps } from '../sync-deps';
import { confirmLinks, type LinkResult } from './link-proposals';
import { readUnconfirmedLinks } from './unconfirmed-links';

/**
 * Confirms all links that the e-mail address says clearly, batch by batch, as staff confirm those of a page.
 *
 * @param signal ends it behind a batch
 * @param onBatch told what came of each link
 */
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
