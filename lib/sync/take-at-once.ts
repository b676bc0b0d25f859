import type { Database } from '@/db/database';
import { fitTogether, runGuarded } from '@/db/statement';
import { isConflict, writeInTurn } from '@/db/transaction';
import type { ProviderEvent } from '../stripe/to-event';
import { applyEvent, subscriptionOf } from './apply-event';
import { newContext, type SyncContext } from './context';
import { inTurn } from './in-turn';
import { eventWrite, isSettled, isStoredAlready } from './inbox';
import { type Glimpse, glimpseHeld, requireHeld } from './lock-held';
import type { SyncDeps } from './sync-deps';

/**
 * Takes in the usual event of a subscription, whose customer and items are known, in two round trips: reads
 * without any lock, decides from that, then locks, looks again and writes in one statement.
 *
 * @returns undefined, with nothing written, where that is not enough: for anything that has to be read or
 * asked besides, and where something changed in between
 */
export async function takeAtOnce(
  deps: SyncDeps,
  event: ProviderEvent,
  payload: string,
): Promise<'processed' | 'stale' | 'unmatched' | 'duplicate' | undefined> {
  const about = subscriptionOf(event);
  if (!about) return undefined;
  const { customer, subscription } = about;
  // Two at once would change what the other one read.
  return inTurn(deps.db, customer, async () => {
    const glimpse = await glimpseHeld(deps.db, customer, subscription, event.id);
    if (isSettled(glimpse.outcome)) return 'duplicate';
    const decided = glimpse.outcome === null ? await decide(deps, event, glimpse) : undefined;
    if (!decided) return undefined;
    const { outcome, ctx } = decided;
    const warnings = [...new Set(ctx.warnings)];
    const write = eventWrite(event, payload, { outcome, changes: ctx.changes, warnings, now: ctx.now });
    const writes = [...ctx.writes, write];
    if (!fitTogether(writes)) return undefined;
    const guard = requireHeld.with({ customer, subscription, versions: glimpse.versions });
    await writeInTurn(deps.db, customer, () => runGuarded(deps.db, guard, writes));
    if (warnings.length > 0) deps.log.warn({ event: event.id, warnings }, 'event left questions');
    return outcome;
  }).catch((error: unknown) => {
    if (isConflict(error) || isStoredAlready(error)) return undefined;
    throw error;
  });
}

async function decide(deps: SyncDeps, event: ProviderEvent, { held }: Glimpse) {
  const ctx: SyncContext = newContext(NO_DATABASE, deps, { get: notAtOnce }, notAtOnce);
  try {
    return { outcome: await applyEvent(ctx, event, held), ctx };
  } catch (error) {
    if (error instanceof NotAtOnce) return undefined;
    throw error;
  }
}

/** More is needed than what was read: it takes a transaction. */
class NotAtOnce extends Error {}

function notAtOnce(): never {
  throw new NotAtOnce();
}

const NO_DATABASE = new Proxy({}, { get: notAtOnce }) as Database;
