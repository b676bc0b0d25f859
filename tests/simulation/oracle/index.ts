import type { WorldEvent } from '@/lib/stripe-local/model';
import type { Dispute, Refund } from '@/lib/stripe-local/model-returns';
import type { Tables } from '../tables';
import { checkCreated } from './created';
import { checkCustomers } from './customers';
import { checkInvoices } from './invoices';
import { checkWarnings } from './kept-status';
import { checkMoneyBack } from './money-back';
import { checkPayments } from './payments';
import { checkServiceDates } from './service-dates';
import { checkSubscriptions } from './subscriptions';
import type { Difference } from './values';

/** What is known of a history: what truly happened at Stripe, and what was done here. */
export interface Truth {
  history: readonly WorldEvent[];
  timeZone: string;
  /** Our calendar date at the end. */
  today: string;
  hasKey: boolean;
  /** An e-mail links by itself. */
  linkByEmail: boolean;
  /** Nothing was lost on the way. */
  lossless: boolean;
  /** Stripe's API failed now and then, or what it answered was out of date time and again. */
  mayFail: boolean;
  /** An older shape does not tell all that a newer one does. */
  versions: readonly string[];
  versionOf(event: WorldEvent): string;
  ours: readonly {
    id: number;
    number: string;
    email: string | null;
    services: readonly OwnService[];
    sold: { id: number; quantity: number; services: readonly number[]; isUnclear: boolean } | null;
  }[];
  stripeCustomers: readonly {
    customer: { id: string; email: string | null; address: { line1: string } | null };
    /** Whom staff linked it to, and whom before. */
    staff: number | null;
    formerly: readonly number[];
    /** Whom its e-mail linked it to beforehand. */
    stored: number | null;
  }[];
  deleted: ReadonlySet<string>;
  freed: ReadonlySet<string>;
  written: ReadonlyMap<number, { amount: string; reference: string; source: string }>;
  /** As Stripe has them at the end. */
  refunds: readonly Refund[];
  disputes: readonly Dispute[];
  /** Of Stripe's payment intents, the invoice that each was made for. */
  intents: ReadonlyMap<string, string>;
  /** By id of a payment, the status that somebody wrote last. */
  statuses: ReadonlyMap<number, string>;
  /** By Stripe's id of an item, the service that staff linked; null: none, they said. */
  linked: ReadonlyMap<string, number | null>;
  /** By event, when it happened and when it was brought, in ticks. */
  times: ReadonlyMap<
    string,
    { happened: number; tried: number | null; done: number | null; changes: number | null }
  >;
  /** What Stripe reported of customers themselves. */
  looks: readonly Look[];
  /** Customers that it does not even know any more. */
  unknown: ReadonlySet<string>;
  /** By id of a service, the dates that people gave it. */
  dated: ReadonlyMap<number, Record<'next_billing_date' | 'ends_on', readonly string[]>>;
}

/** An answer of Stripe's about a customer. */
export interface Look {
  customer: string;
  /** asked: for the customer; brought: along with an object of it, which may have been of no account. */
  kind: 'asked' | 'brought';
  /** How often its own number had changed by then; null: it was deleted. */
  changes: number | null;
  number: string | undefined;
  /** What was done with it may have been undone. */
  isDoubtful: boolean;
}

export interface OwnService {
  id: number;
  number: string;
  price: { minor: number; currency: string; months: number };
}

export interface Verdict {
  differences: Difference[];
  /** Rows that the payloads left open. */
  ties: number;
}

/**
 * Compares our tables with what Stripe's own history says they must hold.
 *
 * @param full with all that Stripe has (after a reconciliation); else with what it announced
 */
export function judge(truth: Truth, tables: Tables, full: boolean): Verdict {
  const verdict: Verdict = { differences: [], ties: 0 };
  if (full || truth.lossless) {
    checkCustomers(truth, tables, full, verdict);
    checkCreated(truth, tables, full, verdict);
    checkSubscriptions(truth, tables, full, verdict);
    checkInvoices(truth, tables, full, verdict);
  }
  if (full) checkServiceDates(truth, tables, verdict);
  checkPayments(truth, tables, full, verdict);
  checkMoneyBack(truth, tables, full, verdict);
  checkWarnings(truth, tables, verdict);
  return verdict;
}
