import { isDatabaseUnavailable, pgErrorCode } from '@/db/database';
import { type Actor, auditNumber, recordAudit } from '../../audit/audit-log';
import { AppError } from '../../errors';
import { stackOf } from '../../log';
import type { SyncDeps } from '../sync-deps';
import type { EventOutcome } from './delivery';
import { HANDLED_EVENT_TYPES } from './event-types';
import { replayEvent } from './handle-event';
import { getEvent, type StoredEvent } from './inbox-queries';

export function isReplayable({
  type,
  outcome,
  payload,
}: Pick<StoredEvent, 'type' | 'outcome' | 'payload'>): boolean {
  return payload !== '' && (outcome === 'failed' || HANDLED_EVENT_TYPES.includes(type));
}

/** Leaves an audit entry even when it fails again. @throws AppError not_found */
export async function replayForStaff(
  deps: SyncDeps,
  actor: Actor,
  id: string,
): Promise<EventOutcome | 'failed' | 'dropped'> {
  const before = await auditedEvent(deps, id);
  const result = await tryReplay(deps, id);
  await recordAudit(deps.db, {
    actor,
    action: 'stripe_event.replay',
    entity: 'stripe_event',
    entity_id: auditNumber(id),
    before,
    after: {
      ...(await auditedEvent(deps, id)),
      ...((result === 'failed' || result === 'dropped') && { result }),
    },
  });
  return result;
}

async function tryReplay(deps: SyncDeps, id: string): Promise<EventOutcome | 'failed' | 'dropped'> {
  try {
    // One of the other mode, too: the page says that it is applied.
    return await replayEvent({ ...deps, mode: null }, id);
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error;
    if (error instanceof AppError && error.code === 'conflict') return 'dropped';
    deps.log.error({ event: id, code: pgErrorCode(error), stack: stackOf(error) }, 'replay failed');
    return 'failed';
  }
}

async function auditedEvent({ db }: SyncDeps, id: string) {
  const { outcome, attempts, error_code, warnings, changes } = await getEvent(db, id);
  return { id, outcome, attempts, error_code, warnings, changes };
}
