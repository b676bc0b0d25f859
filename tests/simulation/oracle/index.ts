import type { Tables } from '../tables';
import { checkCustomers, isSure } from './customers';
import { checkInvoices } from './invoices';
import { checkMoneyBack, checkPayments, checkPayouts } from './payments';
import { type Case, type Difference, date, recordDifference, type Truth } from './story';
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
    checkSubscriptions(given);
    checkInvoices(given);
  }
  if (full) checkServiceDates(given);
  checkPayments(given);
  checkMoneyBack(given);
  if (full) checkPayouts(given);
  return given.differences;
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
