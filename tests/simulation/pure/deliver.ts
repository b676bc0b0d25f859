import { isDatabaseUnavailable, pgErrorCode } from '@/db/database';
import type { ProviderEvent } from '@/lib/stripe/to-event';
import type { EventOutcome } from '@/lib/sync/inbox/delivery';
import { takeIn } from '@/lib/sync/inbox/handle-event';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import type { ModelProcess } from './process';

/** As `handleEvent`: what cannot be applied is kept as failed. */
export async function takeModelEvent(
  process: ModelProcess,
  deps: SyncDeps,
  { event, payload, again }: { event: ProviderEvent; payload: string; again: boolean },
): Promise<EventOutcome> {
  try {
    return await takeIn(deps, { event, payload, expectedMode: null, again });
  } catch (error) {
    if (!isDatabaseUnavailable(error)) {
      const code = pgErrorCode(error) ?? (error instanceof Error ? error.name : 'unknown');
      await process.failEvent(event, payload, code);
    }
    throw error;
  }
}
