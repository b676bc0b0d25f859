import { readFileSync } from 'node:fs';
import Stripe from 'stripe';
import { describe, expect, test } from 'vitest';
import { lastOfSecond, type ProviderEvent, toProviderEvent } from '@/lib/stripe/event';
import { toProviderInvoice } from '@/lib/stripe/to-invoice';
import { toProviderCheckout, toProviderSubscription } from '@/lib/stripe/to-subscription';
import { HANDLED_EVENT_TYPES } from '@/lib/sync/event-types';
import { ANNOUNCING } from '../simulation/oracle/story';

const DAY = 86_400;
const at = (seconds: number) => new Date(seconds * 1000);

describe('an invoice of any API version', () => {
  const base = {
    ...{ id: 'in_1', customer: 'cus_1', currency: 'eur', status: 'open', total: 11900, amount_due: 11900 },
  };
  const map = (more: Record<string, unknown>) => toProviderInvoice({ ...base, ...more });
  const K1 = { metadata: { customer_number: 'K1' } };
  const amounts = (amountPaid: string, amountDue: string) => ({ amountPaid, amountDue });
  const paidNow = (amount_paid: number) => ({ status: 'paid', amount_paid });
  const PAID = { status: 'paid', ...amounts('119.00', '0.00') };
  const OPEN = { status: 'open', amountDue: '119.00' };
  const OUT_OF_BAND = { ...paidNow(0), paid: true, paid_out_of_band: true, amount_remaining: 11900 };
  const payments = (...data: object[]) => ({ payments: { data } });
  const attempt = (status: string, last_payment_error: object | null) => ({
    attempted: true,
    ...payments({ payment: { payment_intent: { id: 'pi_1', status, last_payment_error } } }),
  });
  const [NEEDS_METHOD, CODE] = ['requires_payment_method', { code: 'card_declined' }] as const;

  const SUB = { stripeSubscriptionId: 'sub_1' };
  const ofParent = (details: object) => ({ parent: { subscription_details: details } });
  const oldStatus = (more: object) => ({ status: undefined, ...more });
  const paidOff = (off: string | null) => ({ amountOffStripe: off });
  const [paid, tooMuch] = [paidNow(11900), paidNow(13900)];
  const overpaid = { amount_remaining: 0, amount_overpaid: 2000 };
  const oldOverpaid = { ...tooMuch, amount_remaining: -2000 };
  const draftOverpaid = { status: 'draft', amount_paid: 0, amount_overpaid: 2000 };
  const PAID_139 = { amountPaid: '139.00' };
  const forgiven = oldStatus({ paid: false, closed: true, forgiven: true });
  const unknownStatus = { status: null, providerStatus: 'frozen' };
  const issued = (seconds: number) => ({ issuedAt: at(seconds) });
  const balances = (start: number, end: number | null) => ({ starting_balance: start, ending_balance: end });
  const applied = (balanceApplied: string | null) => ({ balanceApplied });
  const INTENT = { paymentIntentId: 'pi_1' };
  const didFail = (paymentFailed: boolean) => ({ paymentFailed });
  const numbers = (...found: [string, string][]) => ({
    customerNumbers: found.map(([number, source]) => ({ number, source })),
  });
  const ownNumber = numbers(['K1', 'other']);
  const bothNumbers = numbers(['K1', 'subscription'], ['K2', 'other']);
  const ofOwner = { stripeCustomerId: 'cus_2', ...numbers(['K1', 'customer']) };
  const twoNumbers = { ...ofParent(K1), metadata: { customer_number: 'K2' } };
  const record = { status: 'paid', amount_paid: 1900, payment: { type: 'payment_record' } };
  const intent = (id: string, status: string) => ({ status, payment: { payment_intent: id } });
  const tried = (n: string, status: string) => {
    return { status, payment: { payment_intent: { id: `pi_${n}`, latest_charge: `ch_${n}` } } };
  };
  const paidBy = (amount_paid: number) => ({ ...intent('pi_1', 'paid'), amount_paid });
  const part = { payments: { ...payments(paidBy(100)).payments, has_more: true } };
  const allPayments = payments(paidBy(11900));
  const [PAID_119, TAX_19] = [{ amountPaid: '119.00' }, { tax: '19.00' }];
  const finalizedLate = { created: 1000, status_transitions: { finalized_at: 2000 } };

  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    [
      'names the intent that paid beside a record of another payment',
      payments(record, paidBy(10000)),
      INTENT,
    ],
    [
      'names what paid before what failed',
      { payments: { data: [tried('2', 'canceled'), tried('1', 'paid')] } },
      { ...INTENT, moneyIds: ['pi_1', 'ch_1', 'pi_2', 'ch_2'] },
    ],
    ['takes its subscription from the field subscription', { subscription: 'sub_1' }, SUB],
    ['takes its subscription from an expanded subscription object', { subscription: { id: 'sub_1' } }, SUB],
    ['takes its subscription from the field parent', ofParent({ subscription: 'sub_1' }), SUB],
    ['has no subscription if its parent is null', { parent: null }, { stripeSubscriptionId: null }],
    ['has its expanded customer’s number', { customer: { id: 'cus_2', ...K1 } }, { customer: ofOwner }],
    ['lists its subscription’s customer number before its own', twoNumbers, { customer: bothNumbers }],
    ['trims its own customer number', { metadata: { customer_number: ' K1\t' } }, { customer: ownNumber }],
    ['has no customer if its customer is null', { customer: null }, { customer: null }],
    ['without a status is paid if its field paid is true', oldStatus({ paid: true }), PAID],
    ['without a status is void if closed', oldStatus({ paid: false, closed: true }), { status: 'void' }],
    ['without a status is written off if it is forgiven', forgiven, { status: 'uncollectible' }],
    ['without a status is open if neither paid nor closed', oldStatus({ paid: false, closed: false }), OPEN],
    ['has no known status if Stripe’s is unknown', { status: 'frozen' }, unknownStatus],
    ['can be paid in part', { amount_paid: 1900, amount_remaining: 10000 }, amounts('19.00', '100.00')],
    ['without a creation time is issued at its date', { date: 1000 }, issued(1000)],
    ['is issued when it is finalized', finalizedLate, issued(2000)],
    ['is issued on an earlier effective date', { ...finalizedLate, effective_at: 500 }, issued(500)],
    ['is issued on a later effective date', { ...finalizedLate, effective_at: 3000 }, issued(3000)],
    ['takes its tax from the old field tax', { tax: 1900 }, TAX_19],
    ['without a tax field has its total minus its net as tax', { total_excluding_tax: 10000 }, TAX_19],
    ['has the sum of its taxes as its tax', { total_taxes: [{ amount: 1000 }, { amount: 900 }] }, TAX_19],
    ['in yen has no decimals', { currency: 'JPY', total: 1200 }, { currency: 'jpy', total: '1200' }],
    ['in dinars has amounts with three decimals', { currency: 'kwd', total: 12345 }, { total: '12.345' }],
    ['has a subtotal after discount', { subtotal: 20000, tax: 1900 }, { subtotal: '100.00', ...TAX_19 }],
    ['can have amounts of twelve digits', { total: 99_999_999_999_999 }, { total: '999999999999.99' }],
    ['can have a negative total', { total: -500, amount_due: 0 }, { total: '-5.00', amountDue: '0.00' }],
    ['can be paid outside Stripe', OUT_OF_BAND, { ...amounts('119.00', '0.00'), ...paidOff('119.00') }],
    ['adds an overpaid amount that amount_paid leaves out', { ...overpaid, ...paid }, PAID_139],
    ['does not add an overpaid amount that amount_paid includes', { ...overpaid, ...tooMuch }, PAID_139],
    ['adds no overpaid amount to complete payments', { ...overpaid, ...paid, ...allPayments }, PAID_119],
    ['adds up its payments', { ...paid, ...payments(paidBy(13900)) }, amounts('139.00', '0.00')],
    ['adds an overpaid amount to incomplete payments', { ...overpaid, ...paid, ...part }, PAID_139],
    ['from before version basil has the overpaid amount as paid', oldOverpaid, amounts('139.00', '0.00')],
    ['ignores an overpaid amount while it is a draft', draftOverpaid, { amountPaid: '0.00' }],
    ['has credit from the customer balance as a positive amount', balances(-5000, -2000), applied('30.00')],
    ['has debt from the customer balance as a negative amount', balances(2000, 0), applied('-20.00')],
    ['has no known balance amount if the customer balance is unchanged', balances(0, 0), applied(null)],
    ['has the balance amount 0 if it was overpaid', { ...tooMuch, ...balances(0, 0) }, applied('0.00')],
    ['has no known balance amount without an ending balance', balances(-5000, null), applied(null)],
    ['has the reported amount outside Stripe', { ...paid, amount_paid_off_stripe: 1900 }, paidOff('19.00')],
    ['counts a payment record as outside Stripe', { status: 'paid', ...payments(record) }, paidOff('19.00')],
    ['has no known amount outside Stripe if Stripe reports none', paid, paidOff(null)],
    ['takes its payment intent from the field payment_intent', { payment_intent: 'pi_1' }, INTENT],
    ['has the intent of its paid payment', payments(intent('pi_0', 'open'), intent('pi_1', 'paid')), INTENT],
    ['has a failed payment after a declined card', attempt(NEEDS_METHOD, CODE), didFail(true)],
    ['has no failed payment during an attempt', attempt('processing', null), didFail(false)],
  ])('an invoice from Stripe %s', (_, more, expected) => expect(map(more)).toMatchObject(expected));

  test.each([
    [{ currency: 'euro' }, 'The currency "euro" is not a three-letter code.'],
    [{ total: 100_000_000_000_000 }, 'The amount 1000000000000.00 EUR has more than twelve digits.'],
    [{ total: -100_000_000_000_000 }, 'The amount -1000000000000.00 EUR has more than twelve digits.'],
    [
      { amount_due: 2 ** 60 },
      'The amount 1152921504606847000 is not a whole number of at most twelve digits.',
    ],
  ])('an invoice from Stripe with %j is refused', (more, reason) => expect(() => map(more)).toThrow(reason));

  test('control characters in an invoice from Stripe are removed', () => {
    const address = { line1: 'Hauptstr. 1\nHinterhaus', city: 'Wien\t' };
    const hostile = map({
      ...{ number: 'NO\u0007-\u001b[31m1\u0085\u009f\0', metadata: { customer_number: 'K\u00001' } },
      ...{ customer_name: 'Evil\r=cmd|x\r\nLtd\0', customer_email: '\0', customer_address: address },
    });
    expect(hostile).toMatchObject({ number: 'NO-[31m1', customer: { email: null, ...ownNumber } });
    expect(hostile?.customer?.details).toMatchObject([
      { value: { name: 'Evil =cmd|x Ltd' } },
      { value: { street: 'Hauptstr. 1 Hinterhaus', city: 'Wien' } },
    ]);
  });

  test.each([
    ['its name', { name: 'Ada', business_name: 'Ada GmbH' }, 'Ada'],
    ['its business name if it has no name', { name: null, business_name: 'Ada GmbH' }, 'Ada GmbH'],
    [
      'its individual name if it has no other',
      { business_name: '', individual_name: 'Ada Byron' },
      'Ada Byron',
    ],
  ])('a Stripe customer is called by %s', (_, names, name) => {
    const expected = [{ field: 'name', value: { name } }];
    for (const told of [{ customer: { id: 'cus_1', ...names } }, { customer_details: names }])
      expect(map(told)?.customer?.details).toMatchObject(expected);
  });

  test('a value without an id is not read as an invoice', () => {
    for (const value of [null, 'in_1', [], {}, { customer: 'cus_1' }])
      expect(toProviderInvoice(value)).toBeNull();
  });
});

describe('the lines of an invoice of any API version', () => {
  const map = (lines: object, more = {}) =>
    toProviderInvoice({ id: 'in_1', currency: 'eur', total: 1190, ...more, lines })?.lines;
  const line = { amount: 1000, description: 'Server', quantity: 2, period: { start: DAY, end: 31 * DAY } };
  const tax = { amount: 190, taxable_amount: 1000, taxability_reason: 'standard_rated' };
  const newer = { ...tax, tax_behavior: 'exclusive', tax_rate_details: { tax_rate: 'txr_1' } };
  const older = { ...tax, inclusive: false, tax_rate: 'txr_1' };
  const [vat, added] = [
    { id: 'txr_1', percentage: 19, tax_type: 'vat' },
    { rate: '19', inclusive: false },
  ];
  const taxOf = (reported: object) => map({ data: [{ ...line, ...reported }] })?.lines[0]?.taxes;
  const list = (count: number, has_more: boolean) => ({
    data: Array.from({ length: count }, (_, i) => ({ ...line, description: `Line ${i}` })),
    has_more,
  });

  test('an invoice line from Stripe has its description, period, quantity, amount and discount', () => {
    const discounted = { ...line, discount_amounts: [{ amount: 100 }, { amount: 50 }] };
    const read = {
      ...{ description: 'Server', quantity: '2', amount: '10.00', discount: '1.50', taxes: [] },
      ...{ periodStart: at(DAY), periodEnd: at(31 * DAY) },
    };
    expect(map({ data: [discounted], has_more: false })).toMatchObject({ isComplete: true, lines: [read] });
  });

  test.each([
    ['taxes', { taxes: [newer] }, { ...added, type: null }],
    ['tax_amounts', { tax_amounts: [older] }, { ...added, type: null }],
    ['tax_amounts and tax_rates', { tax_amounts: [older], tax_rates: [vat] }, { ...added, type: 'vat' }],
    ['inclusive taxes', { taxes: [{ ...newer, tax_behavior: 'inclusive' }] }, { inclusive: true }],
  ])('an invoice line from Stripe takes its tax from %s', (_, reported, expected) => {
    expect(taxOf(reported)).toMatchObject([{ amount: '1.90', ...expected }]);
  });

  test('the tax rate of a Stripe line has up to four decimals if its amount is large enough to show them', () => {
    const taxes = [{ ...newer, amount: 848_750, taxable_amount: 10_000_000 }];
    expect(taxOf({ taxes })).toMatchObject([{ rate: '8.4875' }]);
  });

  test('a tax of a Stripe line has no rate if several rates result in its amount', () => {
    expect(taxOf({ taxes: [{ ...newer, amount: 2, taxable_amount: 10 }] })).toMatchObject([{ rate: null }]);
  });

  test('the hash of Stripe’s invoice lines is the same for the field taxes and the older field tax_amounts', () => {
    const hashOf = (reported: object) => map({ data: [{ ...line, ...reported }] })?.hash;
    expect(hashOf({ taxes: [newer] })).toBe(hashOf({ tax_amounts: [older] }));
    expect(hashOf({ taxes: [newer] })).not.toBe(hashOf({}));
  });

  test('the hash of twelve invoice lines does not change if an event contains only ten of them', () => {
    const [shown, all] = [map(list(10, true)), map(list(12, false))];
    expect([shown?.isComplete, all?.isComplete]).toEqual([false, true]);
    expect(shown?.hash).toBe(all?.hash);
    expect(shown?.hash).not.toBe(map(list(10, true), { total: 1191 })?.hash);
    expect(shown?.hash).not.toBe(map(list(10, false))?.hash);
  });

  test('a Stripe invoice without a list of lines has unknown lines', () => {
    expect(map({ invoiceitems: [], subscriptions: [] })).toBeNull();
  });
});

describe('a subscription of any API version', () => {
  const base = { id: 'sub_1', customer: 'cus_1', status: 'active' };
  const map = (more: Record<string, unknown>) => toProviderSubscription({ ...base, ...more });

  test.each([
    ['incomplete', 'incomplete'],
    ['incomplete_expired', 'cancelled'],
    ['trialing', 'trialing'],
    ['active', 'active'],
    ['past_due', 'past_due'],
    ['unpaid', 'unpaid'],
    ['paused', 'paused'],
    ['canceled', 'cancelled'],
    ['hibernating', null],
    ['constructor', null],
  ])('the Stripe status %s of a subscription is read as %s', (status, expected) => {
    expect(map({ status })?.status).toBe(expected);
  });

  test('a subscription item without a period end takes the period end of its subscription', () => {
    const item = { id: 'si_1', current_period_end: 5 * DAY };
    const endOf = (data: object, more = {}) =>
      map({ items: { data: [data] }, ...more })?.items[0]?.currentPeriodEnd;
    const own = { current_period_end: 6 * DAY };
    expect([endOf(item), endOf({ id: 'si_1' }, own), endOf(item, own)]).toEqual(
      [5, 6, 5].map((n) => at(n * DAY)),
    );
  });

  const [week, withPeriod] = [{ cancel_at: 7 * DAY }, { cancel_at_period_end: true }];
  const [own, noEnd] = [{ current_period_end: DAY }, { cancel_at: null, cancel_at_period_end: false }];
  test.each<[string, Record<string, unknown>, Date | null]>([
    ['cancelled at the period end ends at cancel_at', { ...withPeriod, ...week }, at(7 * DAY)],
    ['with flexible billing ends at cancel_at', { ...noEnd, ...week }, at(7 * DAY)],
    ['of an old API version ends at the period end', { ...withPeriod, ...own }, at(DAY)],
    ['without a cancellation has no end', { ...noEnd, ...own }, null],
  ])('a subscription from Stripe %s', (_, more, expected) => expect(map(more)?.cancelAt).toEqual(expected));

  test('the paused collection of a subscription is read with the time at which it resumes', () => {
    const pauses = [null, ['void', 9 * DAY], ['keep_as_draft', null]] as const;
    const read = pauses.map((pause) => {
      const pause_collection = pause && { behavior: pause[0], resumes_at: pause[1] };
      return map({ pause_collection })?.pause;
    });
    const voided = { behavior: 'void', resumesAt: at(9 * DAY) };
    expect(read).toEqual([null, voided, { behavior: 'keep_as_draft', resumesAt: null }]);
  });

  test('a subscription item with a quantity above 2147483647 is refused', () => {
    const items = { data: [{ id: 'si_1', quantity: 3_000_000_000 }], has_more: false };
    expect(() => map({ items })).toThrow('The quantity 3000000000 is not between 0 and 2147483647.');
  });

  test('the metadata of a subscription item is trimmed', () => {
    const metadata = { service_number: '\u00a0S-1 ', customer_service_id: ' 12\n' };
    const [item] = map({ items: { data: [{ id: 'si_1', metadata }] } })?.items ?? [];
    expect(item?.metadata).toEqual({ service_number: 'S-1', customer_service_id: '12' });
  });

  test('a partial or missing list of subscription items is marked as incomplete', () => {
    expect(map({ items: { data: [], has_more: true } })?.itemsComplete).toBe(false);
    expect(map({})).toMatchObject({ items: [], itemsComplete: false, cancelAtPeriodEnd: false });
  });
});

describe('the price of an item', () => {
  const price = {
    currency: 'eur',
    unit_amount: 990,
    billing_scheme: 'per_unit',
    recurring: { interval: 'month', interval_count: 1, usage_type: 'licensed' },
  };
  const plan = { currency: 'eur', amount: 990, interval: 'month', interval_count: 3, usage_type: 'licensed' };
  const billed = (item: Record<string, unknown>, subscription: Record<string, unknown> = {}) =>
    toProviderSubscription({ id: 'sub_1', ...subscription, items: { data: [{ id: 'si_1', ...item }] } })
      ?.items[0];

  const at = (more: Record<string, unknown>, quantity = 1) => ({ price: { ...price, ...more }, quantity });
  const fraction = { unit_amount: null, unit_amount_decimal: '0.25' };
  const ofClient = { unit_amount: null, unit_amount_decimal: Stripe.Decimal.from('12.5') };
  const metered = { recurring: { ...price.recurring, usage_type: 'metered' } };
  const monthly = { amount: '19.80', currency: 'eur', interval: 'month', intervalCount: 1 };
  const single = { ...monthly, amount: '9.90' };
  const none = { amount: null };
  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['is its unit price times its quantity', at({}, 2), monthly],
    ['is taken from a legacy plan', { plan, quantity: 1 }, { ...single, intervalCount: 3 }],
    ['counts once with a price and a plan', { ...at({}), plan: { ...plan, interval_count: 1 } }, single],
    ['is known if fractions of a cent add up to whole cents', at(fraction, 8), { amount: '0.02' }],
    ['is unknown if fractions of a cent remain', at(fraction, 3), none],
    ['is read from a decimal object of the Stripe client', at(ofClient, 2), { amount: '0.25' }],
    ['in yen has no decimals', at({ currency: 'JPY' }), { amount: '990', currency: 'jpy' }],
    ['is unknown for a tiered price', at({ billing_scheme: 'tiered', unit_amount: null }), none],
    ['is unknown for metered use', { price: { ...price, ...metered } }, none],
    ['is unknown for a price per package', at({ transform_quantity: { divide_by: 10 } }, 10), none],
    ['is unknown if the price includes tax', at({ tax_behavior: 'inclusive' }), none],
    ['is unknown with an inclusive tax rate', { ...at({}), tax_rates: [{ inclusive: true }] }, none],
    ['is unknown without a quantity', { price }, none],
    ['is unknown if it is too large for its column', at({ unit_amount: 10 ** 15 }, 1000), none],
    ['is unknown without a price', {}, { amount: null, currency: null, interval: null, intervalCount: null }],
  ])('the amount of a subscription item %s', (_, item, expected) => {
    expect(billed(item)).toMatchObject(expected);
  });

  test('an item’s amount is unknown if the subscription has an inclusive tax rate or a currency other than the price’s', () => {
    const item = { price, quantity: 1 };
    expect(billed(item, { currency: 'eur' })).toMatchObject(single);
    expect(billed(item, { currency: 'usd' })).toMatchObject({ amount: null, currency: 'usd' });
    expect(billed(item, { default_tax_rates: [{ inclusive: true }] })?.amount).toBeNull();
  });
});

describe('a checkout', () => {
  test.each(['payment', 'setup', undefined])('a checkout of mode %s buys no subscription', (mode) => {
    expect(toProviderCheckout({ id: 'cs_1', mode })).toBeNull();
  });

  const bought = { id: 'cs_1', mode: 'subscription', subscription: 'sub_1', customer: 'cus_1' };

  test('a checkout takes our subscription id from its metadata rather than from client_reference_id', () => {
    const session = { ...bought, payment_status: 'unpaid', metadata: { subscription_id: '7' } };
    const expected = { stripeSubscriptionId: 'sub_1', reference: 7, paid: false };
    for (const more of [{}, { client_reference_id: '8' }]) {
      expect(toProviderCheckout({ ...session, ...more })).toMatchObject(expected);
    }
  });
});

describe('the order of events within one second', () => {
  const event = (id: string, type: string, object: object, previous?: object) =>
    toProviderEvent({
      id,
      type: `customer.subscription.${type}`,
      created: 1000,
      data: { object: { id: 'sub_1', ...object }, previous_attributes: previous },
    }) as ProviderEvent;

  const created = event('evt_9', 'created', { status: 'incomplete' });
  const active = event('evt_1', 'updated', { status: 'active', plan: 'a' }, { status: 'incomplete' });
  const changed = event('evt_0', 'updated', { status: 'active', plan: 'b' }, { plan: 'a' });
  const deleted = event('evt_2', 'deleted', { status: 'active' });
  const change = (id: string, before: number | undefined, x: number) =>
    event(`evt_${id}`, 'updated', { x }, { x: before });
  const letterOf = (i: number) => String.fromCharCode(97 + ((i * 5) % 12));
  const chain = (...values: number[]) => values.slice(1).map((x, i) => change(letterOf(i), values[i], x));

  test.each<[string, ProviderEvent[], string]>([
    ['a single created event is the last', [created], 'evt_9'],
    ['an update follows the created event', [active, created], 'evt_1'],
    ['an update follows the event with its previous values', [changed, active, created], 'evt_0'],
    ['a deleted event is the last', [deleted, changed, active], 'evt_2'],
    ['the greatest id decides between two last events', [change('a', 0, 1), change('b', 0, 2)], 'evt_b'],
    ['the greatest id breaks a cycle of updates', [change('a', 2, 1), change('b', 1, 2)], 'evt_b'],
    ['one of twelve updates is the last', chain(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), 'evt_h'],
    ['one of twelve updates to and fro is the last', chain(0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 2), 'evt_h'],
  ])('for events within one second, %s', (_, events, expected) => {
    expect(lastOfSecond(events)?.id).toBe(expected);
    expect(lastOfSecond([...events].reverse())?.id).toBe(expected);
  });
});

test('docs/operations.md lists every handled event type for Stripe’s dashboard', () => {
  const text = readFileSync('docs/operations.md', 'utf8');
  const [, named = ''] = /add an endpoint at `[^`]+` for ([^:]+), and set/.exec(text) ?? [];
  let before = '';
  const types = [...named.matchAll(/`([^`]+)`/g)].map(([, type = '']) => {
    // After `customer.subscription.created`, the document shortens `customer.subscription.updated` to `.updated`.
    before = type.startsWith('.') ? before.replace(/\.\w+$/, type) : type;
    return before;
  });
  expect(types.sort()).toEqual([...HANDLED_EVENT_TYPES].sort());
});

test('the simulation lists exactly the handled event types', () => {
  expect([...ANNOUNCING].sort()).toEqual([...HANDLED_EVENT_TYPES].sort());
});
