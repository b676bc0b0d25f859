import type { Tables } from '../tables';
import type { Truth, Verdict } from './index';
import { wasAsked } from './own-numbers';

/** A customer that was made for Stripe lives where one that it was made of does. */
export function checkCreated(truth: Truth, tables: Tables, full: boolean, verdict: Verdict): void {
  const own = new Set(truth.ours.map(({ id }) => id));
  for (const row of tables.customers) {
    if (own.has(row.id)) continue;
    const links = tables.links.filter(({ customer_id }) => customer_id === row.id);
    const members = truth.stripeCustomers.filter(({ customer }) =>
      links.some(({ stripe_customer_id: id }) => id === customer.id),
    );
    const streets = members.flatMap(({ customer }) => customer.address?.line1 ?? []);
    const isTold = full && members.some(({ customer }) => customer.address && wasAsked(truth, customer.id));
    const expected: (string | null)[] = isTold ? streets : [...streets, null];
    if (expected.includes(row.street)) continue;
    verdict.differences.push({ what: `street of customer ${row.id}`, expected, actual: row.street });
  }
}
