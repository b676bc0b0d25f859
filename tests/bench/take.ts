import type { Database } from '@/db/database';
import { createLogger } from '@/lib/log';
import { toProviderEvent } from '@/lib/stripe/to-event';
import { handleEvent } from '@/lib/sync/inbox/handle-event';
import type { SyncDeps } from '@/lib/sync/sync-deps';

/** Without Stripe, which is never to be asked. */
export function benchDeps(db: Database): SyncDeps {
  return {
    db,
    stripe: null,
    now: () => new Date(),
    log: createLogger('error'),
    timeZone: 'UTC',
    linkByEmail: false,
    mode: null,
    eventRetentionDays: 180,
    toolCallRetentionDays: 90,
  };
}

/** What happens to events after their signature was checked. */
export async function take(deps: SyncDeps, payloads: string[]): Promise<void> {
  for (const payload of payloads) {
    const event = toProviderEvent(JSON.parse(payload));
    if (event) await handleEvent(deps, event, payload);
  }
}
