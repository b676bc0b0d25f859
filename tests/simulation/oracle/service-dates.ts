import type { Tables } from '../tables';
import { isSure } from './customers';
import type { Truth, Verdict } from './index';
import { date } from './values';

/**
 * The latest period end over the live items that hold a service, and its end where all of them are to end.
 * Where Stripe has none, no date of Stripe's is left, but one that people gave it may be; and must be, where Stripe
 * never had one.
 */
export function checkServiceDates(truth: Truth, tables: Tables, verdict: Verdict): void {
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
    const told = items.map((item) => live.get(item.subscription_id)?.cancel_at ?? null);
    const isEnding = told.length > 0 && !told.includes(null);
    const end = isEnding ? date(Math.max(...told.map(Number)), truth.timeZone) : null;
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
      verdict.differences.push({ what: `service ${service.id}`, expected, actual: service });
    }
  }
}
