import { readFileSync } from 'node:fs';
import Stripe from 'stripe';
import { describe, expect, test } from 'vitest';
import { lastOfSecond } from '@/lib/stripe/chain-events';
import { toProviderCheckout } from '@/lib/stripe/to-checkout';
import { type ProviderEvent, toProviderEvent } from '@/lib/stripe/to-event';
import { toProviderInvoice } from '@/lib/stripe/to-invoice';
import { toProviderSubscription } from '@/lib/stripe/to-subscription';
import { HANDLED_EVENT_TYPES } from '@/lib/sync/inbox/event-types';
import { ANNOUNCING } from '../simulation/oracle/story';

const DAY = 86_400;
const at = (seconds: number) => new Date(seconds * 1000);

describe('an invoice of any API version', () => {
  const base = {
    id: 'in_1',
    customer: 'cus_1',
    currency: 'eur',
    status: 'open',
    total: 11900,
    amount_due: 11900,
  };
  const map = (more: Record<string, unknown>) => toProviderInvoice({ ...base, ...more });
  const K1 = { metadata: { customer_number: 'K1' } };
  const OUT_OF_BAND = { paid_out_of_band: true, amount_paid: 0, amount_remaining: 11900 };
  const payments = (...data: object[]) => ({ payments: { data } });
  const attempt = (status: string, code: string | null) => ({
    attempted: true,
    ...payments({
      payment: {
        payment_intent: { id: 'pi_1', status, last_payment_error: code === null ? null : { code } },
      },
    }),
  });

  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['subscription beside it', { subscription: 'sub_1' }, { stripeSubscriptionId: 'sub_1' }],
    ['subscription expanded', { subscription: { id: 'sub_1' } }, { stripeSubscriptionId: 'sub_1' }],
    [
      'subscription under parent',
      { parent: { subscription_details: { subscription: 'sub_1' } } },
      { stripeSubscriptionId: 'sub_1' },
    ],
    ['no subscription', { parent: null }, { stripeSubscriptionId: null }],
    [
      'expanded customer',
      { customer: { id: 'cus_2', ...K1 } },
      { customer: { stripeCustomerId: 'cus_2', customerNumbers: [{ number: 'K1', source: 'customer' }] } },
    ],
    [
      'the subscription’s number before the invoice’s',
      { parent: { subscription_details: K1 }, metadata: { customer_number: 'K2' } },
      {
        customer: {
          customerNumbers: [
            { number: 'K1', source: 'subscription' },
            { number: 'K2', source: 'other' },
          ],
        },
      },
    ],
    ['no customer', { customer: null }, { customer: null }],
    [
      'no status, paid',
      { status: undefined, paid: true },
      { status: 'paid', amountPaid: '119.00', amountDue: '0.00' },
    ],
    ['no status, closed', { status: undefined, paid: false, closed: true }, { status: 'void' }],
    [
      'no status, forgiven',
      { status: undefined, paid: false, closed: true, forgiven: true },
      { status: 'uncollectible' },
    ],
    [
      'no status, open',
      { status: undefined, paid: false, closed: false },
      { status: 'open', amountDue: '119.00' },
    ],
    ['a status of the future', { status: 'frozen' }, { status: null, providerStatus: 'frozen' }],
    [
      'partly paid',
      { amount_paid: 1900, amount_remaining: 10000 },
      { amountPaid: '19.00', amountDue: '100.00' },
    ],
    ['date instead of created', { date: 1000 }, { issuedAt: at(1000) }],
    [
      'finalized later than created',
      { created: 1000, status_transitions: { finalized_at: 2000 } },
      { issuedAt: at(2000) },
    ],
    ['tax of old', { tax: 1900 }, { tax: '19.00' }],
    ['tax as a difference', { total_excluding_tax: 10000 }, { tax: '19.00' }],
    ['tax as a list', { total_taxes: [{ amount: 1000 }, { amount: 900 }] }, { tax: '19.00' }],
    ['yen', { currency: 'JPY', total: 1200 }, { currency: 'jpy', total: '1200' }],
    ['dinars', { currency: 'kwd', total: 12345 }, { total: '12.345' }],
    ['subtotal before a discount', { subtotal: 20000, tax: 1900 }, { subtotal: '100.00', tax: '19.00' }],
    ['voided', { status: 'void', amount_remaining: 11900 }, { amountDue: '0.00' }],
    ['twelve digits', { total: 99_999_999_999_999 }, { total: '999999999999.99' }],
    ['a credit', { total: -500, amount_due: 0 }, { total: '-5.00', amountDue: '0.00' }],
    [
      'out of band, in old versions',
      { status: 'paid', paid: true, ...OUT_OF_BAND },
      { amountPaid: '119.00', amountDue: '0.00', amountOffStripe: '119.00' },
    ],
    [
      'told off Stripe',
      { status: 'paid', amount_paid: 11900, amount_paid_off_stripe: 1900 },
      { amountOffStripe: '19.00' },
    ],
    [
      'a payment record',
      {
        status: 'paid',
        ...payments({ status: 'paid', amount_paid: 1900, payment: { type: 'payment_record' } }),
      },
      { amountOffStripe: '19.00' },
    ],
    ['not told what was off Stripe', { status: 'paid', amount_paid: 11900 }, { amountOffStripe: null }],
    ['the intent of old', { payment_intent: 'pi_1' }, { paymentIntentId: 'pi_1' }],
    [
      'the intent under payments',
      payments(
        { status: 'open', payment: { payment_intent: 'pi_0' } },
        { status: 'paid', payment: { payment_intent: 'pi_1' } },
      ),
      { paymentIntentId: 'pi_1' },
    ],
    ['an attempt that failed', attempt('requires_payment_method', 'card_declined'), { paymentFailed: true }],
    ['an attempt under way', attempt('processing', null), { paymentFailed: false }],
  ])('an invoice of any API version is read: %s', (_, more, expected) => {
    expect(map(more)).toMatchObject(expected);
  });

  test.each([
    [{ currency: 'euro' }, 'The currency "euro" is no code of three letters.'],
    [{ total: 100_000_000_000_000 }, 'The amount 1000000000000.00 EUR has more than twelve digits.'],
    [{ total: -100_000_000_000_000 }, 'The amount -1000000000000.00 EUR has more than twelve digits.'],
    [{ amount_due: 2 ** 60 }, 'The amount 1152921504606847000 is no whole number of at most twelve digits.'],
  ])('an invoice with %j is refused', (more, reason) => {
    expect(() => map(more)).toThrow(reason);
  });

  test('NUL in an invoice, which PostgreSQL cannot hold, is left out', () => {
    const hostile = map({ number: 'A\0B', customer_email: '\0', metadata: { customer_number: 'K\u00001' } });
    expect(hostile).toMatchObject({
      number: 'AB',
      customer: { email: null, customerNumbers: [expect.objectContaining({ number: 'K1' })] },
    });
  });

  test.each([null, 'in_1', [], {}, { customer: 'cus_1' }])('%j is not an invoice', (object) => {
    expect(toProviderInvoice(object)).toBeNull();
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
  ])('a subscription of status %s is %s', (status, expected) => {
    expect(map({ status })?.status).toBe(expected);
  });

  test('the period end of an item stands on the items, on the subscription, or on both', () => {
    const item = (more = {}) => ({ data: [{ id: 'si_1', ...more }], has_more: false });
    const ends = (more: Record<string, unknown>) =>
      map(more)?.items.map(({ currentPeriodEnd }) => currentPeriodEnd);
    expect(ends({ items: item({ current_period_end: 5 * DAY }) })).toEqual([at(5 * DAY)]);
    expect(ends({ items: item(), current_period_end: 6 * DAY })).toEqual([at(6 * DAY)]);
    expect(ends({ items: item({ current_period_end: 5 * DAY }), current_period_end: 6 * DAY })).toEqual([
      at(5 * DAY),
    ]);
  });

  test.each<[string, Record<string, unknown>, Date | null]>([
    ['with the period', { cancel_at_period_end: true, cancel_at: 7 * DAY }, at(7 * DAY)],
    ['alone, under flexible billing', { cancel_at_period_end: false, cancel_at: 7 * DAY }, at(7 * DAY)],
    ['with the period, in old versions', { cancel_at_period_end: true, current_period_end: DAY }, at(DAY)],
    ['never', { cancel_at_period_end: false, cancel_at: null, current_period_end: DAY }, null],
  ])('a subscription ends %s', (_, more, expected) => {
    expect(map(more)?.cancelAt).toEqual(expected);
  });

  test.each([
    [null, null],
    [
      { behavior: 'void', resumes_at: 9 * DAY },
      { behavior: 'void', resumesAt: at(9 * DAY) },
    ],
    [
      { behavior: 'keep_as_draft', resumes_at: null },
      { behavior: 'keep_as_draft', resumesAt: null },
    ],
  ])('a collection that is paused by %j is read', (pause_collection, expected) => {
    expect(map({ pause_collection })?.pause).toEqual(expected);
  });

  test('a quantity of an item that no column holds is refused', () => {
    const items = { data: [{ id: 'si_1', quantity: 3_000_000_000 }], has_more: false };
    expect(() => map({ items })).toThrow('The quantity 3000000000 is none between 0 and 2147483647.');
  });

  test('a list of items that is not whole, or not there, is not complete', () => {
    expect(map({ items: { data: [], has_more: true } })?.itemsComplete).toBe(false);
    expect(map({})).toMatchObject({ items: [], itemsComplete: false, cancelAtPeriodEnd: false });
  });
});

describe('what an item is billed with', () => {
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

  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    [
      'a price',
      { price, quantity: 2 },
      { amount: '19.80', currency: 'eur', interval: 'month', intervalCount: 1 },
    ],
    ['a plan of old', { plan, quantity: 1 }, { amount: '9.90', currency: 'eur', intervalCount: 3 }],
    [
      'a price beside its plan',
      { price, plan: { ...plan, interval_count: 1 }, quantity: 1 },
      { amount: '9.90' },
    ],
    [
      'fractions of a cent that come to whole ones',
      { price: { ...price, unit_amount: null, unit_amount_decimal: '0.25' }, quantity: 8 },
      { amount: '0.02' },
    ],
    [
      'fractions that do not',
      { price: { ...price, unit_amount: null, unit_amount_decimal: '0.25' }, quantity: 3 },
      { amount: null },
    ],
    [
      'a decimal as the client gives it',
      {
        price: { ...price, unit_amount: null, unit_amount_decimal: Stripe.Decimal.from('12.5') },
        quantity: 2,
      },
      { amount: '0.25' },
    ],
    ['yen', { price: { ...price, currency: 'JPY' }, quantity: 1 }, { amount: '990', currency: 'jpy' }],
    [
      'tiers',
      { price: { ...price, billing_scheme: 'tiered', unit_amount: null }, quantity: 1 },
      { amount: null },
    ],
    [
      'metered use',
      { price: { ...price, recurring: { ...price.recurring, usage_type: 'metered' } } },
      { amount: null },
    ],
    [
      'packages',
      { price: { ...price, transform_quantity: { divide_by: 10 } }, quantity: 10 },
      { amount: null },
    ],
    ['tax within', { price: { ...price, tax_behavior: 'inclusive' }, quantity: 1 }, { amount: null }],
    ['a tax rate within', { price, quantity: 1, tax_rates: [{ inclusive: true }] }, { amount: null }],
    ['no quantity', { price }, { amount: null }],
    [
      'more than a column holds',
      { price: { ...price, unit_amount: 10 ** 15 }, quantity: 1000 },
      { amount: null },
    ],
    ['no price', {}, { amount: null, currency: null, interval: null, intervalCount: null }],
  ])('an item is billed with %s', (_, item, expected) => {
    expect(billed(item)).toMatchObject(expected);
  });

  test('an item is billed in the subscription’s currency, or its amount is not told', () => {
    expect(billed({ price, quantity: 1 }, { currency: 'eur' })).toMatchObject({ amount: '9.90' });
    expect(billed({ price, quantity: 1 }, { currency: 'usd' })).toMatchObject({
      amount: null,
      currency: 'usd',
    });
    expect(billed({ price, quantity: 1 }, { default_tax_rates: [{ inclusive: true }] })?.amount).toBeNull();
  });
});

describe('a checkout', () => {
  test.each(['payment', 'setup', undefined])('a checkout of mode %s buys no subscription', (mode) => {
    expect(toProviderCheckout({ id: 'cs_1', mode })).toBeNull();
  });

  test('a checkout names its subscription and ours', () => {
    const session = {
      id: 'cs_1',
      mode: 'subscription',
      subscription: 'sub_1',
      customer: 'cus_1',
      payment_status: 'unpaid',
    };
    expect(toProviderCheckout({ ...session, metadata: { subscription_id: '7' } })).toMatchObject({
      stripeSubscriptionId: 'sub_1',
      reference: 7,
      paid: false,
    });
    expect(
      toProviderCheckout({ ...session, client_reference_id: '8', metadata: { subscription_id: '7' } })
        ?.reference,
    ).toBe(7);
  });
});

describe('several events of one second', () => {
  const event = (
    id: string,
    type: string,
    object: Record<string, unknown>,
    previous?: Record<string, unknown>,
  ) =>
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

  test.each<[string, ProviderEvent[], string]>([
    ['created is the last if alone', [created], 'evt_9'],
    ['an update follows created', [active, created], 'evt_1'],
    ['an update follows the one whose values it had before', [changed, active, created], 'evt_0'],
    ['deleted is last', [deleted, changed, active], 'evt_2'],
    ['the greatest id of two possible ends is last', [change('a', 0, 1), change('b', 0, 2)], 'evt_b'],
    ['a circle is broken by the greatest id', [change('a', 2, 1), change('b', 1, 2)], 'evt_b'],
  ])('of several events of one second %s, in any order', (_, events, expected) => {
    expect(lastOfSecond(events)?.id).toBe(expected);
    expect(lastOfSecond([...events].reverse())?.id).toBe(expected);
  });

  const letterOf = (i: number) => String.fromCharCode(97 + ((i * 5) % 12));
  const chain = (values: number[]) => values.slice(1).map((x, i) => change(letterOf(i), values[i], x));

  test.each<[string, number[], string]>([
    ['that each change something else', [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], 'evt_h'],
    ['that change it to and fro', [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 2], 'evt_h'],
  ])('twelve updates of one second %s have one end', (_, values, expected) => {
    expect(lastOfSecond(chain(values))?.id).toBe(expected);
    expect(lastOfSecond(chain(values).reverse())?.id).toBe(expected);
  });
});

describe('the handled event types', () => {
  test('README has the event types for Stripe’s dashboard', () => {
    const readme = readFileSync('README.md', 'utf8');
    const [, named = ''] = /add an endpoint at `[^`]+` for ([^:]+), and set/.exec(readme) ?? [];
    let before = '';
    const types = [...named.matchAll(/`([^`]+)`/g)].map(([, type = '']) => {
      // `.updated` follows `customer.subscription.created`.
      before = type.startsWith('.') ? before.replace(/\.\w+$/, type) : type;
      return before;
    });
    expect(types.sort()).toEqual([...HANDLED_EVENT_TYPES].sort());
  });

  test('simulated histories announce all handled event types', () => {
    expect([...ANNOUNCING].sort()).toEqual([...HANDLED_EVENT_TYPES].sort());
  });
});
