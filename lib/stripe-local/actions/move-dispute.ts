import type { Dispute, DisputeStatus } from '../model-returns';
import { act, type Done, emit, epochNow, getFrom, type World, WorldError } from '../world';
import { evidenceDueBy, reversal, withdrawal } from './dispute-parts';

const NEXT: Partial<Record<DisputeStatus, readonly DisputeStatus[]>> = {
  warning_needs_response: ['warning_under_review', 'warning_closed', 'needs_response', 'prevented'],
  warning_under_review: ['warning_closed', 'needs_response', 'prevented'],
  needs_response: ['under_review', 'won', 'lost'],
  under_review: ['won', 'lost'],
};

/**
 * A dispute goes on: `under_review` submits evidence, `needs_response` makes an inquiry a dispute that takes
 * the money, `won` brings it back.
 * → charge.dispute.updated, (charge.dispute.funds_withdrawn)
 * | charge.dispute.closed, (charge.dispute.funds_reinstated)
 */
export function moveDispute(world: World, id: string, status: DisputeStatus): Done<Dispute> {
  return act(world, () => {
    const before = getFrom(world.disputes, id, 'dispute');
    if (!mayBecome(before, status)) {
      throw new WorldError(`The dispute ${id} is ${before.status} and cannot become ${status}.`);
    }
    const dispute = world.disputes.put({ ...before, ...changes(world, before, status), status });
    if (NEXT[status]) emit(world, 'charge.dispute.updated', dispute, before);
    else emit(world, 'charge.dispute.closed', dispute);
    if (status === 'needs_response') emit(world, 'charge.dispute.funds_withdrawn', dispute);
    if (status === 'won') emit(world, 'charge.dispute.funds_reinstated', dispute);
    return dispute;
  });
}

export function mayBecome(dispute: Dispute, status: DisputeStatus): boolean {
  return NEXT[dispute.status]?.includes(status) ?? false;
}

function changes(world: World, before: Dispute, status: DisputeStatus): Partial<Dispute> {
  const moved = before.balanceTransactions;
  switch (status) {
    case 'under_review':
    case 'warning_under_review':
      return {
        submissionCount: before.submissionCount + 1,
        pastDue: epochNow(world) > before.evidenceDueBy,
      };
    case 'needs_response':
      return {
        evidenceDueBy: evidenceDueBy(world),
        balanceTransactions: [...moved, withdrawal(world, before.amount)],
      };
    case 'won':
      return { balanceTransactions: [...moved, reversal(world, before.amount)] };
    default:
      return {};
  }
}
