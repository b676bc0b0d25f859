import type { WorldEvent } from '@/lib/stripe-local/model';
import type { Tables } from '../tables';
import { checkCustomers } from './customers';
import { checkInvoices } from './invoices';
import { checkPayments } from './payments';
import { checkServiceDates, checkSubscriptions } from './subscriptions';
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
  /** Stripe's API failed now and then. */
  mayFail: boolean;
  /** An older shape does not tell all that a newer one does. */
  versions: readonly string[];
  ours: readonly {
    id: number;
    number: string;
    email: string | null;
    services: readonly OwnService[];
    sold: { id: number; quantity: number; services: readonly number[] } | null;
  }[];
  stripeCustomers: readonly {
    customer: { id: string; email: string | null; metadata: Readonly<Record<string, string>> };
    /** Whom staff linked it to, and whom before. */
    staff: number | null;
    formerly: readonly number[];
    /** Whom its e-mail linked it to beforehand. */
    stored: number | null;
  }[];
  deleted: ReadonlySet<string>;
  freed: ReadonlySet<string>;
  written: ReadonlyMap<number, { amount: string; reference: string; source: string }>;
  linked: ReadonlyMap<string, number>;
  /** By id of a service, the dates that people gave it. */
  dated: ReadonlyMap<number, readonly string[]>;
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
    checkSubscriptions(truth, tables, full, verdict);
    checkInvoices(truth, tables, full, verdict);
  }
  if (full) checkServiceDates(truth, tables, verdict);
  checkPayments(truth, tables, full, verdict);
  return verdict;
}
