import type { Tables } from '../tables';
import { isSure } from './customers';
import type { Truth, Verdict } from './index';
import { date } from './values';

/**
 * The latest period end over the live items that hold a service, and its end where all of them are to end.
 * Without any, no date of Stripe's is left, but one that people gave it may be.
 */
export function checkServiceDates(truth: Truth, tables: Tables, verdict: Verdict): void {
  const live = new Map(
    tables.subscriptions
      .filter((row) => row.status !== 'cancelled' && isSure(tables, row.stripe_customer_id))
      .map((row) => [row.id, row]),
  );
  for (const service of tables.services) {
    const items = tables.items.filter(
      (item) =>
        item.customer_service_id === service.id &&
        live.has(item.subscription_id) &&
        item.current_period_end !== null,
    );
    const ends = items.map((item) => live.get(item.subscription_id)?.cancel_at ?? null);
    const isEnding = ends.length > 0 && !ends.includes(null);
    const ends_on = isEnding ? date(Math.max(...ends.map(Number)), truth.timeZone) : null;
    const until = items.map((item) => item.current_period_end ?? 0);
    const next = until.length > 0 ? date(Math.max(...until), truth.timeZone) : null;
    const own = [null, ...(truth.dated.get(service.id) ?? [])];
    const dates = next === null ? own : [next];
    if (!dates.includes(service.next_billing_date) || service.ends_on !== ends_on) {
      const expected = { next_billing_date: dates, ends_on };
      verdict.differences.push({ what: `service ${service.id}`, expected, actual: service });
    }
  }
}
