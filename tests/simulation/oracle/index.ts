import type { WorldEvent } from '@/lib/stripe-local/model';
import type { Tables } from '../tables';
import { checkCustomers, isSure, wasAsked } from './customers';
import { checkInvoices } from './invoices';
import { checkMoneyBack, checkPayments, checkPayouts } from './payments';
import {
  ANNOUNCING,
  type Case,
  type Difference,
  date,
  hasKnownStatus,
  recordDifference,
  type Truth,
} from './story';
import { checkSubscriptions } from './subscriptions';

/**
 * Compares our tables with the rows that follow from Stripe's own history.
 *
 * @param full whether to compare with everything that Stripe has, as after a reconciliation, or only with the data in
 *   its events
 */
export function judge(truth: Truth, tables: Tables, full: boolean): Difference[] {
  const given: Case = { truth, tables, full, differences: [] };
  if (full || truth.lossless) {
    checkCustomers(given);
    checkStreets(given);
    checkSubscriptions(given);
    checkInvoices(given);
  }
  if (full) checkServiceDates(given);
  checkPayments(given);
  checkMoneyBack(given);
  if (full) checkPayouts(given);
  checkWarnings(given);
  return given.differences;
}

/**
 * Expects a customer that sync created to have the street of one of its Stripe customers, or none if sync may not know
 * the street. If all of its Stripe customers have since been linked to other customers, the street of any Stripe
 * customer is accepted.
 */
function checkStreets(given: Case): void {
  const { truth, tables, full } = given;
  const own = new Set(truth.ours.map(({ id }) => id));
  for (const row of tables.customers) {
    if (own.has(row.id)) continue;
    const links = tables.links.filter(({ customer_id }) => customer_id === row.id);
    const members = truth.stripeCustomers.filter(({ customer }) =>
      links.some(({ stripe_customer_id: id }) => id === customer.id),
    );
    const candidates = links.length > 0 ? members : truth.stripeCustomers;
    const streets = candidates.flatMap(({ customer }) => customer.address?.line1 ?? []);
    const isKnown = full && members.some(({ customer }) => customer.address && wasAsked(truth, customer.id));
    const expected: (string | null)[] = isKnown ? streets : [...streets, null];
    if (!expected.includes(row.street))
      recordDifference(given, `street of customer ${row.id}`, expected, row.street);
  }
}

/**
 * Expects a service's next billing date to be the latest period end of the live items that bill it. Expects an end date
 * if all of these items end. If Stripe has no date, an earlier date from Stripe must be gone. A date that people
 * entered may remain. An end date that people entered must remain if no subscription ever had an end.
 */
function checkServiceDates(given: Case): void {
  const { truth, tables } = given;
  const live = new Map(
    tables.subscriptions
      .filter((row) => row.status !== 'cancelled' && isSure(tables, row.stripe_customer_id))
      .map((row) => [row.id, row]),
  );
  const hasEnds = truth.history.some(
    ({ about }) => about.object === 'subscription' && (about.cancelAt !== null || about.cancelAtPeriodEnd),
  );
  for (const service of tables.services) {
    const items = tables.items.filter(
      (item) =>
        item.customer_service_id === service.id &&
        live.has(item.subscription_id) &&
        item.current_period_end !== null,
    );
    const ending = items.map((item) => live.get(item.subscription_id)?.cancel_at ?? null);
    const isEnding = ending.length > 0 && !ending.includes(null);
    const end = isEnding ? date(Math.max(...ending.map(Number)), truth.timeZone) : null;
    const until = items.map((item) => item.current_period_end ?? 0);
    const next = until.length > 0 ? date(Math.max(...until), truth.timeZone) : null;
    const own = truth.dated.get(service.id);
    const ends = own?.ends_on ?? [];
    const expected = {
      next_billing_date: next === null ? [null, ...(own?.next_billing_date ?? [])] : [next],
      ends_on: end !== null ? [end] : hasEnds ? [null, ...ends] : [ends.at(-1) ?? null],
    };
    if (
      !expected.next_billing_date.includes(service.next_billing_date) ||
      !expected.ends_on.includes(service.ends_on)
    ) {
      recordDifference(given, `service ${service.id}`, expected, service);
    }
  }
}

/**
 * Expects a warning for an event with an unknown status, if it is the only handled event of its object in its second.
 * Checks nothing if sync has an API key, because Stripe may have returned another status.
 */
function checkWarnings(given: Case): void {
  const { truth, tables } = given;
  if (truth.hasKey) return;
  const rows = new Map(tables.events.map((row) => [row.id, row]));
  for (const event of truth.history) {
    const { about } = event;
    if (about.object !== 'subscription' && about.object !== 'invoice') continue;
    if (hasKnownStatus(about) || !isAlone(truth, event)) continue;
    const row = rows.get(event.id);
    const warning = `unknown ${about.object} status ${about.status}`;
    if (row?.outcome !== 'processed' || row.warnings.includes(warning)) continue;
    recordDifference(given, `event ${event.id}`, 'a warning', row.warnings);
  }
}

const isAlone = ({ history }: Truth, { created, about }: WorldEvent) =>
  history.filter(
    (other) => ANNOUNCING.has(other.type) && other.created === created && other.about.id === about.id,
  ).length === 1;
