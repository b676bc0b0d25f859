import type { reconciliationRuns } from '@/db/schema';
import type { Ordered } from '../decide/order';
import type { SyncDeps } from '../sync-deps';
import { disputesFrom, reconcileCreditNotes, reconcilePage, reconcileUnseen, refundsFrom } from './lists';
import { attachPayments, recordMissingPayments } from './missing-payments';
import type { StripeDeps } from './object';
import { linkCheckouts, recheck, recheckCustomers, retryFailedEvents, retryFailures } from './rechecks';
import type { Run } from './run';
import { bookMissed, checkLists, clearAccess, compareTimeZone, dropOldBodies, markOverdue } from './upkeep';

type Phase = (typeof reconciliationRuns.$inferSelect)['phase'];
/** Does one page. @returns where the next one begins; null when the step is done */
type Page<Deps> = (deps: Deps, run: Run, cursor: string | null) => Promise<string | null>;
export type Step = { name: string; phase: Phase } & (
  | { needs: 'stripe'; page: Page<StripeDeps> }
  | { needs: 'database'; page: Page<SyncDeps> }
);

const subscriptionList =
  (status: string | null): Page<StripeDeps> =>
  (deps, run, cursor) =>
    reconcilePage('subscription', deps, run, { status, createdFrom: status ? run.windowFrom : null }, cursor);

const invoiceList =
  (status: string | null): Page<StripeDeps> =>
  (deps, run, cursor) =>
    reconcilePage('invoice', deps, run, { status, createdFrom: status ? null : run.windowFrom }, cursor);

const refundList: Page<StripeDeps> = (deps, run, cursor) =>
  reconcilePage('refund', deps, run, { status: null, createdFrom: refundsFrom(run) }, cursor);

const disputeList: Page<StripeDeps> = async (deps, run, cursor) => {
  const createdFrom = await disputesFrom(deps, run);
  return reconcilePage('dispute', deps, run, { status: null, createdFrom }, cursor);
};

const unseen =
  (kind: Ordered): Page<StripeDeps> =>
  (deps, run, cursor) =>
    reconcileUnseen(deps, run, kind, cursor);

const recheckSubscriptions: Page<StripeDeps> = (deps, run, cursor) =>
  recheck(deps, run, 'subscription', cursor);

/** What is open or new at Stripe, or open here and seen in neither: the cost does not grow with history. */
export const STEPS: Step[] = [
  { name: 'failed events', phase: 'inbox', needs: 'database', page: retryFailedEvents },
  { name: 'live subscriptions', phase: 'subscriptions', needs: 'stripe', page: subscriptionList(null) },
  { name: 'recent subscriptions', phase: 'subscriptions', needs: 'stripe', page: subscriptionList('all') },
  { name: 'unseen subscriptions', phase: 'subscriptions', needs: 'stripe', page: unseen('subscription') },
  { name: 'open invoices', phase: 'invoices', needs: 'stripe', page: invoiceList('open') },
  { name: 'draft invoices', phase: 'invoices', needs: 'stripe', page: invoiceList('draft') },
  { name: 'uncollectible invoices', phase: 'invoices', needs: 'stripe', page: invoiceList('uncollectible') },
  { name: 'recent invoices', phase: 'invoices', needs: 'stripe', page: invoiceList(null) },
  { name: 'unseen invoices', phase: 'invoices', needs: 'stripe', page: unseen('invoice') },
  { name: 'credit notes', phase: 'invoices', needs: 'stripe', page: reconcileCreditNotes },
  { name: 'Stripe customers to recheck', phase: 'rechecks', needs: 'stripe', page: recheckCustomers },
  { name: 'subscriptions to recheck', phase: 'rechecks', needs: 'stripe', page: recheckSubscriptions },
  {
    name: 'invoices to recheck',
    phase: 'rechecks',
    needs: 'stripe',
    page: (deps, run, cursor) => recheck(deps, run, 'invoice', cursor),
  },
  { name: 'earlier failures', phase: 'rechecks', needs: 'stripe', page: retryFailures },
  { name: 'missing payments', phase: 'payments', needs: 'database', page: recordMissingPayments },
  // Only now is known whose each Stripe customer is: a checkout is linked to its own customer's alone.
  { name: 'checkouts', phase: 'payments', needs: 'stripe', page: linkCheckouts },
  { name: 'subscriptions of checkouts', phase: 'payments', needs: 'stripe', page: recheckSubscriptions },
  // By now, every collected amount has a payment.
  { name: 'refunds', phase: 'money_back', needs: 'stripe', page: refundList },
  { name: 'unseen refunds', phase: 'money_back', needs: 'stripe', page: unseen('refund') },
  { name: 'disputes', phase: 'money_back', needs: 'stripe', page: disputeList },
  { name: 'unseen disputes', phase: 'money_back', needs: 'stripe', page: unseen('dispute') },
  { name: 'payments of what came back', phase: 'money_back', needs: 'database', page: attachPayments },
  { name: 'time zone of the account', phase: 'money_back', needs: 'stripe', page: compareTimeZone },
  { name: 'overdue invoices', phase: 'overdue', needs: 'database', page: markOverdue },
  { name: 'missed entries', phase: 'overdue', needs: 'database', page: bookMissed },
  { name: 'counts of lists', phase: 'overdue', needs: 'database', page: checkLists },
  { name: 'bodies of old events', phase: 'overdue', needs: 'database', page: dropOldBodies },
  { name: 'old tool calls', phase: 'overdue', needs: 'database', page: clearAccess },
];

/** Once this step is done, all of Stripe's lists were read. */
export const LAST_LIST = 'unseen disputes';
