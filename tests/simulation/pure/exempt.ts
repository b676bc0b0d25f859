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
    code: "{ ...link, checkout_completed_at, ...(status === 'active' && { status }) }",
    why: 'staff alone make what was only named one of ours, which no history does',
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
