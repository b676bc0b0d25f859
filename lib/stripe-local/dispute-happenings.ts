import { moveDispute, openDispute, returnDebit } from './actions';
import { collectedFor } from './actions/collected';
import { untouched } from './actions/disputes';
import { mayBecome } from './actions/move-dispute';
import { findInvoiceWith, findReturned } from './find-returned';
import { type Happened, type Happening, statusOf } from './happening';
import type { Dispute, DisputeStatus } from './model-returns';

/** What happens to disputes. */
export const DISPUTE_HAPPENINGS = {
  'charge.dispute.created': open,
  'charge.dispute.updated': (target: Happening) => {
    const submits = ['under_review', 'warning_under_review'] as const;
    return move(target, submits, 'dispute that waits for evidence');
  },
  'charge.dispute.closed': (target: Happening) => {
    const asked = statusOf('charge.dispute.closed', target);
    const ends = target.status === undefined ? (['lost', 'warning_closed'] as const) : [asked];
    return move(target, ends, `open dispute that could end as ${ends.join(' or ')}`);
  },
  'charge.dispute.funds_withdrawn': (target: Happening) =>
    move(target, ['needs_response'], 'inquiry that could become a dispute'),
  'charge.dispute.funds_reinstated': (target: Happening) =>
    move(target, ['won'], 'open dispute that could be won'),
};

/** Lost at once: the customer's bank returned a direct debit. */
function open(target: Happening): Happened {
  const { world } = target;
  const invoice = findInvoiceWith(
    target,
    (one) => collectedFor(world, one).some((payment) => untouched(world, payment) > 0),
    'disputable invoice',
  );
  const status = statusOf('charge.dispute.created', target);
  const { object } =
    status === 'lost'
      ? returnDebit(world, { invoice: invoice.id })
      : openDispute(world, { invoice: invoice.id, inquiry: status === 'warning_needs_response' });
  return {
    action: `The payment of the invoice ${invoice.number} is disputed; the dispute is ${status}.`,
    objects: [object, invoice],
  };
}

/** The newest dispute that can become one of these, the first of them before the others. */
function move(target: Happening, statuses: readonly DisputeStatus[], noun: string): Happened {
  const next = (dispute: Dispute) => statuses.find((status) => mayBecome(dispute, status));
  const dispute = findReturned(target, target.world.disputes, (one) => next(one) !== undefined, noun);
  const { object } = moveDispute(target.world, dispute.id, next(dispute) ?? dispute.status);
  return { action: `The dispute ${object.id} is ${object.status} now.`, objects: [object] };
}
