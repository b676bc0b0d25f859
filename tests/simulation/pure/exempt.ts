import { readFileSync } from 'node:fs';

/** Places of `decide` that no history reaches, and why they stay. */
const EXEMPT = [
  {
    file: 'lib/sync/decide/customer/claims.ts',
    code: "return one.source === 'customer';",
    why: 'links by number that were put in by hand, of which nobody noted where the number stands',
  },
  {
    file: 'lib/sync/decide/invoice/invoice-state.ts',
    code: 'provider.customer?.stripeCustomerId ?? null',
    why: 'invoices that were put in by hand, with the id at Stripe and without the customer',
  },
  {
    file: 'lib/sync/decide/subscription/subscription.ts',
    code: ') ?? incoming;',
    why: 'the event that is decided on is always among those of its second',
  },
  {
    file: 'lib/sync/decide/subscription/subscription-state.ts',
    code: 'provider.customer?.stripeCustomerId ?? null',
    why: 'subscriptions that were put in by hand, likewise',
  },
  {
    file: 'lib/sync/decide/customer/link-customer.ts',
    code: 'return undefined;',
    line: 'if (!stored?.recheck_at) return undefined;',
    why: 'two runs at once, of which one was taken for dead',
  },
  {
    file: 'lib/sync/decide/checkout/merge-into-sold.ts',
    code: "{ ...ours, ...link, checkout_completed_at, ...(status === 'active' && { status }) }",
    why: 'staff alone make what was only named one of ours, which no history does',
  },
  {
    file: 'lib/sync/decide/subscription/set-item-service.ts',
    code: 'null));',
    why: 'services are read with the items that are billed for them',
  },
  {
    file: 'lib/sync/decide/money-back/money-back.ts',
    code: 'incoming, // no event tells of it',
    why: 'events of one second, and none tells of refunds and disputes',
  },
  {
    file: 'lib/sync/decide/money-back/kinds.ts',
    code: 'row.issued_at,',
    why: 'objects without the time of their creation, which Stripe does not have',
  },
  {
    file: 'lib/sync/decide/gone.ts',
    code: '} else endMoneyBack(draft, kind, stripeId);',
    why: 'refunds and disputes that Stripe has no more, as it deletes none',
  },
  {
    file: 'lib/sync/decide/checkout/kept-checkout.ts',
    code: 'return null;',
    line: 'if (stored.checkout?.stripe_customer_id !== stripeCustomerId) return null;',
    why: 'checkouts of other customers: the model decides each alone, and is read for nobody else',
  },
  {
    file: 'lib/sync/decide/money-back/attach-payment.ts',
    code: 'return;',
    line: 'if (!row || row.payment_id !== null) return;',
    why: 'two runs at once, of which one was taken for dead',
  },
];

/** Whether a place, as `lib/sync/decide/plan.ts:12:3`, is one of those. */
export function exemptPlaces(): (place: string) => boolean {
  const ranges = EXEMPT.map(({ file, code, line: whole = code }) => {
    const lines = readFileSync(file, 'utf8').split('\n');
    const at = lines.findIndex((line) => line.includes(whole));
    if (at === -1) throw new Error(`${file} has no ${whole}`);
    const from = lines[at]?.indexOf(code) ?? 0;
    return { file, line: at + 1, from: from + 1, to: from + code.length };
  });
  return (place) => {
    const [file, line, column] = place.split(':');
    return ranges.some(
      (one) =>
        one.file === file &&
        one.line === Number(line) &&
        one.from <= Number(column) &&
        Number(column) <= one.to,
    );
  };
}
