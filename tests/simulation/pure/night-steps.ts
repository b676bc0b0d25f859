import type { Night } from './night';
import { listed, unseen } from './night-lists';
import { attachPayments, creditNotes, listedDisputes, listedRefunds } from './night-money';
import {
  checkouts,
  earlierFailures,
  failedEvents,
  missingPayments,
  recheck,
  recheckCustomers,
} from './night-rows';

/** What each step of a run does, by its name. */
export const NIGHT_STEPS: Record<string, (night: Night) => Promise<void>> = {
  'failed events': failedEvents,
  'live subscriptions': listed('subscription', null),
  'recent subscriptions': listed('subscription', 'all'),
  'unseen subscriptions': unseen('subscription'),
  'open invoices': listed('invoice', 'open'),
  'draft invoices': listed('invoice', 'draft'),
  'uncollectible invoices': listed('invoice', 'uncollectible'),
  'recent invoices': listed('invoice', null),
  'unseen invoices': unseen('invoice'),

  'Stripe customers to recheck': recheckCustomers,
  'subscriptions to recheck': recheck('subscription'),
  'invoices to recheck': recheck('invoice'),
  'earlier failures': earlierFailures,
  checkouts,
  'subscriptions of checkouts': recheck('subscription'),
  'missing payments': missingPayments,
  'credit notes': creditNotes,
  refunds: listedRefunds,
  'unseen refunds': unseen('refund'),
  disputes: listedDisputes,
  'unseen disputes': unseen('dispute'),
  'payments of what came back': attachPayments,
  // Invoices of our own, which no history has.
  'overdue invoices': async () => {},
  'counts of lists': async () => {},
  'bodies of old events': ({ process }) => process.dropBodies(),
  // No history is that long.
  'old tool calls': async () => {},
};
