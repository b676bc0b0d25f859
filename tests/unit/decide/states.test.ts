import { describe, expect, test } from 'vitest';
import type { StoredInvoice, StoredItem, StoredPayment, StoredSubscription } from '@/lib/store/snapshot';
import { toProviderInvoice } from '@/lib/stripe/to-invoice';
import { toProviderSubscription } from '@/lib/stripe/to-subscription';
import type { Answers } from '@/lib/sync/decide/draft';
import { furthestOfSecond, toInvoiceState } from '@/lib/sync/decide/invoice';
import { decideOrder, recheckAt, type StateOrigin } from '@/lib/sync/decide/order';
import { applyPayment, type Collected } from '@/lib/sync/decide/payment';
import { isStillIn } from '@/lib/sync/decide/subscription/items';
import {
  type Billed,
  combineBilled,
  type ServiceDates,
  toServiceDates,
} from '@/lib/sync/decide/subscription/service-dates';
import { endOf, toSubscriptionState } from '@/lib/sync/decide/subscription/subscription';
import { type ComparedPayout, comparePayout, type PayoutEntry } from '@/lib/sync/reconcile/compare-payout';
import { draftOf, NOW } from '../../support/draft';

// In all tests, the current time is noon on 15 March.
const at = (date: string, time = '12:00') => new Date(`${date}T${time}:00Z`);
const second = (date: string, time?: string) => at(date, time).getTime() / 1000;
function required<T>(made: T | null): T {
  if (made === null) throw new Error('this is no such object');
  return made;
}

const answering = (answer: object) => (() => answer) as unknown as Answers;

describe('an invoice', () => {
  const FAILED = at('2026-03-01');
  const STORED = {
    ...{ status: 'draft', invoice_date: '2026-01-01', amount_paid: '0.000', amount_credited: '0.000' },
    ...{ payment_failed_at: null, uncollectible: false, paid_at: null, amount_off_stripe: null },
    ...{ balance_applied: null, stripe_customer_id: null },
  } as unknown as StoredInvoice;
  const json = (object: object) => ({
    ...{ id: 'in_1', object: 'invoice', status: 'open', currency: 'eur', customer: 'cus_1' },
    ...{ total: 11900, amount_due: 11900, amount_paid: 0, ...object },
  });
  const reported = (object: object) => required(toProviderInvoice(json(object)));
  function stateOf(object: object, stored: Partial<StoredInvoice> = {}) {
    const draft = draftOf();
    const state = toInvoiceState(draft, { ...STORED, ...stored }, reported(object));
    return { ...state, warnings: [...draft.warnings] };
  }

  const DID_FAIL = { payment_failed_at: FAILED };
  const SENT_AND_FAILED = { status: 'sent', ...DID_FAIL } as const;
  test.each<[string, object, Partial<StoredInvoice>, StoredInvoice['status']]>([
    ['that is a draft at Stripe is stored as a draft', { status: 'draft' }, {}, 'draft'],
    ['that is paid at Stripe is stored as paid', { status: 'paid' }, {}, 'paid'],
    ['that is void at Stripe is stored as cancelled', { status: 'void' }, {}, 'cancelled'],
    ['that is open without a due date is stored as sent', {}, {}, 'sent'],
    ['that is due today is stored as sent', { due_date: second('2026-03-15') }, {}, 'sent'],
    ['that was due yesterday is stored as overdue', { due_date: second('2026-03-14') }, {}, 'overdue'],
    ['whose payment failed is stored as overdue', {}, DID_FAIL, 'overdue'],
    ['that was written off at Stripe is stored as overdue', { status: 'uncollectible' }, {}, 'overdue'],
    ['that is paid after a failed payment is stored as paid', { status: 'paid' }, DID_FAIL, 'paid'],
    ['of unknown status at Stripe keeps its stored status', { status: 'parked' }, { status: 'sent' }, 'sent'],
    ['of unknown status is overdue if its payment failed', { status: 'parked' }, SENT_AND_FAILED, 'overdue'],
  ])('an invoice %s', (_, object, stored, expected) => {
    const { status, warnings } = stateOf(object, stored);
    expect(status).toBe(expected);
    expect(warnings).toEqual(reported(object).status ? [] : ['unknown invoice status parked']);
  });

  test.each([
    ['that is void', { status: 'void', amount_remaining: 11900 }, {}],
    ['that we cancelled and whose status is unknown', { status: 'parked' }, { status: 'cancelled' }],
  ] as const)('an invoice %s owes nothing', (_, object, stored) => {
    expect(stateOf(object, stored)).toMatchObject({ status: 'cancelled', amount_due: '0' });
  });

  test('an invoice keeps the time of its first failed payment', () => {
    const failing = { ...reported({}), paymentFailed: true };
    const failedAt = (payment_failed_at: Date | null) =>
      toInvoiceState(draftOf(), { ...STORED, payment_failed_at }, failing).payment_failed_at;
    expect([failedAt(null), failedAt(FAILED)]).toEqual([NOW, FAILED]);
  });

  test('an invoice keeps its amount paid outside Stripe until its paid amount changes', () => {
    const known = { amount_paid: '119.000', amount_off_stripe: '19.000' };
    expect(stateOf({ status: 'paid', amount_paid: 11900 }, known).amount_off_stripe).toBe('19.000');
    expect(stateOf({ status: 'paid', amount_paid: 12000 }, known).amount_off_stripe).toBeNull();
  });

  test('an invoice stays written off if its status at Stripe is unknown', () => {
    expect(stateOf({ status: 'parked' }, { uncollectible: true }).uncollectible).toBe(true);
    expect(stateOf({ status: 'open' }, { uncollectible: true }).uncollectible).toBe(false);
  });

  test.each([
    [['open', 'draft'], 'open'],
    [['open', 'uncollectible'], 'uncollectible'],
    [['paid', 'open', 'uncollectible'], 'paid'],
    [['paid', 'void'], 'void'],
    [['parked', 'draft'], 'parked'],
  ])('the invoice states %s within one second result in the state %s', (statuses, expected) => {
    for (const order of [statuses, statuses.toReversed()]) {
      const draft = draftOf();
      for (const status of order) {
        const event = { id: `evt_${status}`, type: 'invoice.finalized', created: second('2026-03-15') };
        const payload = JSON.stringify({ ...event, data: { object: json({ status }) } });
        const inbox = { outcome: 'processed' as const, attempts: 1, checkout: null, isStorable: true };
        draft.arrived.set(event.id, { id: event.id, payload, ...inbox });
      }
      expect(furthestOfSecond(draft, reported({}), at('2026-03-15')).providerStatus).toBe(expected);
    }
  });
});

describe('a payment', () => {
  const REFERENCE = 'in_1';
  const INVOICE = {
    ...{ id: 7, customer_id: 3, currency: 'eur', amount_paid: '119.000', amount_off_stripe: null },
    stripe_invoice_id: REFERENCE,
  } as unknown as StoredInvoice;
  const PAYMENT = {
    ...{ id: 5, version: 0, invoice_id: 7, customer_id: 3, amount: '119.000', currency: 'eur' },
    ...{ payment_date: '2026-03-14', payment_reference: REFERENCE, refunded_amount: '0.000' },
    ...{ status: 'completed', source: 'stripe', provider_amount: '119.000' },
    ...{ provider_payment_date: '2026-03-14', stripe_payment_intent_id: 'pi_1' },
  } as unknown as StoredPayment;
  const collected = (amountPaid: string, amountOffStripe: string | null = null): Collected => ({
    amountPaid,
    amountOffStripe,
    paidAt: at('2026-03-15', '23:30'),
    paymentIntentId: 'pi_1',
    moneyIds: ['pi_1'],
  });

  interface Given {
    stored?: Partial<StoredPayment>;
    off?: string;
    isBuried?: boolean;
  }
  function paymentAfter(what: Collected, { stored, off, isBuried = false }: Given = {}) {
    const draft = draftOf({
      rows: stored ? { payments: new Map([[PAYMENT.id, { ...PAYMENT, ...stored }]]) } : {},
      tombstones: new Set(isBuried ? [REFERENCE] : []),
      settings: { timeZone: 'Europe/Berlin' },
    });
    applyPayment(draft, REFERENCE, { ...INVOICE, ...(off && { amount_off_stripe: off }) }, what);
    const [row, ...others] = draft.payments.all();
    expect(others).toEqual([]);
    const [invoice] = draft.invoices.changed.values();
    return { row, invoice, changes: draft.changes.map(({ field }) => field), warnings: [...draft.warnings] };
  }

  test('a new payment has the amount that Stripe collected, and the day in the configured time zone', () => {
    const { row, changes } = paymentAfter(collected('119.000'));
    const { version: _, id: __, ...expected } = PAYMENT;
    const dates = { payment_date: '2026-03-16', provider_payment_date: '2026-03-16' };
    expect(row).toMatchObject({ ...expected, ...dates, refunded_amount: '0' });
    expect(changes).toEqual(['created']);
  });

  test.each<[string, Collected, Given, string | undefined]>([
    ['leaves out the amount paid outside Stripe', collected('119.000', '19.000'), {}, '100.000'],
    ['leaves out the stored amount paid outside Stripe', collected('119.000'), { off: '19.000' }, '100.000'],
    ['has the full amount if the stored sum is outdated', collected('130.000'), { off: '19.000' }, '130.000'],
    ['is not created if all was paid outside Stripe', collected('119.000', '119.000'), {}, undefined],
    ['is not created if nothing was paid', collected('0.000'), {}, undefined],
    ['is not created if staff deleted it before', collected('119.000'), { isBuried: true }, undefined],
  ])('a new payment from Stripe %s', (_, what, given, amount) => {
    expect(paymentAfter(what, given).row?.amount).toBe(amount);
  });

  const DATED = { payment_date: '2026-03-10' };
  test.each<[string, Collected, Partial<StoredPayment>, Partial<StoredPayment>]>([
    ['stays if nothing changed', collected('119.000'), {}, { amount: '119.000', payment_date: '2026-03-14' }],
    ['grows if more was paid', collected('150.000'), {}, { amount: '150.000', payment_date: '2026-03-16' }],
    ['keeps the date that staff gave it', collected('150.000'), DATED, { amount: '150.000', ...DATED }],
    ['keeps the amount that staff gave it', collected('150.000'), { amount: '50.000' }, { amount: '50.000' }],
    ['shrinks by the amount paid outside Stripe', collected('119.000', '19.000'), {}, { amount: '100.000' }],
    ['does not shrink if the sum outside Stripe is unknown', collected('100.000'), {}, { amount: '119.000' }],
  ])('a stored payment from Stripe %s', (_, what, stored, expected) => {
    expect(paymentAfter(what, { stored }).row).toMatchObject(expected);
  });

  test.each(['api', 'staff', 'import'] as const)(
    'a payment recorded by %s under the invoice’s id is not changed by Stripe’s report but counts as collected',
    (source) => {
      const { row, invoice, warnings } = paymentAfter(collected('119.000'), { stored: { source } });
      expect(row).toMatchObject({ amount: '119.000', version: 0 });
      expect(invoice?.collected_by_payment_id).toBe(5);
      expect(warnings).toEqual(['payment 5 (in_1) already counts what was collected for in_1']);
    },
  );
});

describe('a subscription', () => {
  /** The row before Stripe has reported anything. */
  const STORED = {
    ...{ status: 'incomplete', next_billing_date: '2025-12-31', ended_at: null },
    ...{ checkout_completed_at: null, stripe_customer_id: null },
  } as unknown as StoredSubscription;
  const reported = (object: object) =>
    required(toProviderSubscription({ id: 'sub_1', status: 'active', customer: 'cus_1', ...object }));
  const period = (end: string) => ({ current_period_end: second(end, '23:30') });
  const items = (...ends: (string | null)[]) => ({
    items: { data: ends.map((end, i) => ({ id: `si_${i}`, quantity: 1, ...(end && period(end)) })) },
  });
  function stateOf(object: object, stored: Partial<StoredSubscription> = {}, timeZone = 'UTC') {
    const draft = draftOf({ settings: { timeZone } });
    const state = toSubscriptionState(draft, { ...STORED, ...stored }, reported(object), at('2026-03-01'));
    return { ...state, warnings: [...draft.warnings] };
  }

  test.each<[string, object, string]>([
    ['at the end of its only item period', items('2026-04-01'), '2026-04-01'],
    ['at the earliest end of its items', items('2026-05-01', '2026-04-01', '2026-06-01'), '2026-04-01'],
    ['at the end of the items that have a period', items(null, '2026-04-01'), '2026-04-01'],
    ['at its period end if its items have none', { ...items(null), ...period('2026-07-01') }, '2026-07-01'],
    ['on its stored date if Stripe reports no period end', items(), '2025-12-31'],
  ])('a subscription is billed next %s', (_, object, expected) => {
    expect(stateOf(object).next_billing_date).toBe(expected);
  });

  test('the next billing date of a subscription is a day in the configured time zone', () => {
    expect(stateOf(items('2026-04-01'), {}, 'Europe/Berlin').next_billing_date).toBe('2026-04-02');
  });

  const paid = { checkout_completed_at: at('2026-03-02') };
  const paidBefore = { checkout_completed_at: at('2026-02-01') };
  test.each<[string, string, Partial<StoredSubscription>, string]>([
    ['has Stripe’s status', 'past_due', {}, 'past_due'],
    ['is active if a later checkout was completed', 'incomplete', paid, 'active'],
    ['stays incomplete if its checkout was completed earlier', 'incomplete', paidBefore, 'incomplete'],
    ['with the status unpaid stays unpaid after a checkout', 'unpaid', paid, 'unpaid'],
    ['keeps its status if Stripe’s status is unknown', 'hibernating', { status: 'trialing' }, 'trialing'],
  ])('a subscription %s', (_, status, stored, expected) => {
    const { warnings, ...state } = stateOf({ status }, stored);
    expect(state.status).toBe(expected);
    expect(warnings).toEqual(status === 'hibernating' ? ['unknown subscription status hibernating'] : []);
  });

  test('a subscription deleted at Stripe is cancelled at the earliest known end time', () => {
    const [ended, known, deletedAt] = [at('2026-03-07'), at('2026-03-08'), at('2026-03-09')];
    expect(endOf(STORED, reported({}), deletedAt)).toEqual({ status: 'cancelled', ended_at: deletedAt });
    expect(endOf({ ...STORED, ended_at: known }, reported({}), deletedAt).ended_at).toEqual(known);
    const told = reported({ ended_at: second('2026-03-07') });
    expect(endOf({ ...STORED, ended_at: known }, told, deletedAt).ended_at).toEqual(ended);
  });

  test('reactivating a cancelled subscription clears its end date', () => {
    const stored = { status: 'cancelled', ended_at: at('2026-03-01') } as const;
    expect(stateOf({ status: 'active' }, stored).ended_at).toBeNull();
    expect(stateOf({ status: 'canceled' }, stored).ended_at).toEqual(at('2026-03-01'));
  });

  test('the Stripe customer stored with a subscription is not replaced by another reported one', () => {
    expect(stateOf({}).stripe_customer_id).toBe('cus_1');
    expect(stateOf({}, { stripe_customer_id: 'cus_0' }).stripe_customer_id).toBe('cus_0');
  });

  const minute = (time: string) => at('2026-03-15', time);
  const [OLDER, SAME, NEWER] = [minute('10:04'), minute('10:05'), minute('10:06')];
  const OTHER = {
    ...{ id: 4, stripe_subscription_id: 'sub_other', stripe_customer_id: 'cus_1' },
    ...{ provider_as_of: SAME, recheck_at: null },
  } as unknown as StoredSubscription;
  const shows = (id: string) =>
    answering({ state: 'found', object: reported({ items: { data: [{ id }] } }), asOf: NOW });
  const gone = answering({ state: 'gone' });
  const [YES, NO, ASKED] = [{ isIn: true }, { isIn: false }, { recheckAt: NOW, isIn: false }];

  test.each<[string, Date, Answers | undefined, number, { isIn: boolean; recheckAt?: Date }]>([
    ['not in the subscription with the older state', NEWER, undefined, 1, NO],
    ['in the subscription with the newer state', OLDER, undefined, 1, YES],
    ['in a subscription of the same second if Stripe returns it there', SAME, shows('si_1'), 1, YES],
    ['not in a subscription of the same second if Stripe returns it without', SAME, shows('si_2'), 1, NO],
    ['not in a subscription of the same second that is gone at Stripe', SAME, gone, 1, NO],
    ['not yet in a subscription of the same second while Stripe fails', SAME, undefined, 1, ASKED],
    ['not yet in a newer one with more than ten items while Stripe fails', OLDER, undefined, 11, ASKED],
  ])('an item reported by two subscriptions is %s', (_, asOf, answers, count, { isIn, recheckAt = null }) => {
    const stored = Array.from({ length: count }, (_, i) => ({ id: i + 1, subscription_id: OTHER.id }));
    const items = new Map(stored.map((item) => [item.id, item as StoredItem]));
    const rows = { subscriptions: new Map([[OTHER.id, OTHER]]), items };
    const draft = draftOf({ rows, ...(answers && { answers }) });
    expect(isStillIn(draft, OTHER, 'si_1', asOf)).toBe(isIn);
    expect(draft.subscriptions.get(OTHER.id)?.recheck_at).toEqual(recheckAt);
  });

  test('an item is not in a subscription whose state Stripe has never reported', () => {
    expect(isStillIn(draftOf(), undefined, 'si_1', SAME)).toBe(false);
    expect(isStillIn(draftOf(), { ...OTHER, provider_as_of: null }, 'si_1', SAME)).toBe(false);
  });
});

describe('a service', () => {
  const billed = (until: string, endsAt: string | null = null): Billed => ({
    until: at(until),
    endsAt: endsAt === null ? null : at(endsAt),
  });
  type Day = string | null;
  const dates = (next: Day, synced: Day, ends_on: Day = null, synced_ends_on: Day = null): ServiceDates => ({
    ...{ next_billing_date: next, synced_billing_date: synced, ends_on, synced_ends_on },
  });
  const [OLD, OWN, NEW, END] = ['2026-01-01', '2026-02-02', '2026-03-03', '2026-04-04'];
  const [NONE, SYNCED, ENDING] = [dates(null, null), dates(OLD, OLD), dates(OLD, OLD, END, END)];
  const NO_DATE = dates(null, null, OWN);

  test.each<[string, ServiceDates, Billed | undefined, ServiceDates]>([
    ['come from the item that bills the service', NONE, billed(NEW), dates(NEW, NEW)],
    ['are replaced by Stripe’s if staff entered them before', dates(OWN, null), billed(NEW), dates(NEW, NEW)],
    ['still count as staff’s if Stripe has the same dates', dates(NEW, null), billed(NEW), dates(NEW, null)],
    ['are cleared when no item bills the service any more', SYNCED, undefined, NONE],
    ['do not change if staff have changed them', dates(OWN, OLD), undefined, dates(OWN, OLD)],
    ['do not change if no item ever billed the service', dates(OWN, null), undefined, dates(OWN, null)],
    ['include the end of the billing item', SYNCED, billed(NEW, END), dates(NEW, NEW, END, END)],
    ['lose their end if the item continues', ENDING, billed(NEW), dates(NEW, NEW)],
    ['lose their end when no item bills the service any more', ENDING, undefined, NONE],
    ['keep the end that staff entered', dates(OLD, OLD, OWN), billed(NEW), dates(NEW, NEW, OWN)],
    ['keep the end that staff entered if no item bills the service', NO_DATE, undefined, NO_DATE],
    ['keep an end that staff changed', dates(OLD, OLD, OWN, END), undefined, dates(null, null, OWN, END)],
  ])('the dates of a service %s', (_, before, all, after) => {
    expect(toServiceDates(before, all, 'UTC')).toEqual(after);
  });

  test('the dates of a service are days in the configured time zone', () => {
    const late = { until: at(NEW, '23:30'), endsAt: at(END, '23:30') };
    const next = dates('2026-03-04', '2026-03-04', '2026-04-05', '2026-04-05');
    expect(toServiceDates(NONE, late, 'Europe/Berlin')).toEqual(next);
  });

  test.each<[string, Billed[], Billed | undefined]>([
    ['not billed if it has no items', [], undefined],
    ['billed until the latest date of its items', [billed(NEW), billed(OLD)], billed(NEW)],
    ['billed without an end if one of its items continues', [billed(OLD, END), billed(NEW)], billed(NEW)],
    ['billed until its last item ends', [billed(OLD, END), billed(NEW, NEW)], billed(NEW, END)],
  ])('a service is %s', (_, all, expected) => expect(combineBilled(all)).toEqual(expected));
});

describe('the choice between a stored and an incoming state', () => {
  const seconds = (n: number) => new Date(Date.UTC(2026, 2, 15, 10, 0, n));
  const invoice = (status: string) =>
    required(toProviderInvoice({ id: 'in_1', status, currency: 'eur', customer: 'cus_1' }));
  const [INCOMING, FETCHED, OF_INBOX] = [invoice('open'), invoice('paid'), invoice('void')];
  const FOUND = answering({ state: 'found', object: FETCHED, asOf: seconds(9) });
  const source = (origin: StateOrigin['origin']) => (n: number) =>
    ({ origin, asOf: seconds(n) }) as StateOrigin;
  const [event, fetched, listed] = [source('event'), source('fetched'), source('listed')];
  const take = (state: typeof INCOMING, n: number, recheck = false) => ({
    ...{ take: state, asOf: seconds(n), recheck },
  });

  interface Case {
    isStored?: boolean;
    /** Whether a recheck is due. */
    isDue?: boolean;
    answers?: Answers;
  }
  const decide = (from: StateOrigin, asOf: number | null, { isStored = false, isDue, answers }: Case) => {
    const draft = draftOf({ ...(answers && { answers }) });
    const times = { provider_as_of: asOf === null ? null : seconds(asOf), provider_gone_at: null };
    const decision = decideOrder(draft, {
      ...{ kind: 'invoice', incoming: INCOMING, stripeCustomerId: 'cus_1', source: from },
      row: { ...times, recheck_at: isDue ? seconds(6) : null },
      isStored: () => isStored,
      decideFromInbox: () => OF_INBOX,
    });
    return { decision, isLeft: draft.unreported !== undefined };
  };
  const [SAME, DUE] = [{ isStored: true }, { isStored: true, isDue: true }];

  test.each<[string, StateOrigin, number | null, Case, unknown]>([
    ['stores the first state', event(5), null, {}, take(INCOMING, 5)],
    ['stores a newer state', event(5), 4, {}, take(INCOMING, 5)],
    ['rejects an older state as stale', event(4), 5, {}, 'stale'],
    ['stores a fetched state of the same second', fetched(5), 5, {}, take(INCOMING, 5)],
    ['keeps the stored state if an equal one of the same second arrives', event(5), 5, SAME, 'unchanged'],
    ['asks Stripe if two states of one second differ', event(5), 5, { answers: FOUND }, take(FETCHED, 9)],
    ['decides from the inbox if Stripe does not answer', event(5), 5, {}, take(OF_INBOX, 5, true)],
    ['asks Stripe while a recheck is due', event(5), 5, { ...DUE, answers: FOUND }, take(FETCHED, 9)],
    ['keeps the stored state if a list shows an equal one', listed(9), 5, SAME, 'unchanged'],
    ['stores an equal state from a list while a recheck is due', listed(9), 5, DUE, take(INCOMING, 9)],
    ['stores a newer state from a list', listed(9), 5, {}, take(INCOMING, 9)],
  ])('sync of an invoice %s', (_, from, storedAsOf, given, expected) => {
    expect(decide(from, storedAsOf, given)).toEqual({ decision: expected, isLeft: false });
  });

  test('sync keeps the stored invoice if a list contains another state of the same second and Stripe does not answer', () => {
    expect(decide(listed(5), 5, {})).toEqual({ decision: 'unchanged', isLeft: true });
  });

  test.each<[string, StateOrigin, boolean, Date | null]>([
    ['becomes due if the decision about it was uncertain', event(5), true, NOW],
    ['stays due after an event', event(5), false, seconds(2)],
    ['stays due after a list', listed(5), false, seconds(2)],
    ['is done after a fetch', fetched(5), false, null],
  ])('a recheck of a Stripe object %s', (_, from, isDoubtful, expected) => {
    const row = { provider_as_of: seconds(1), recheck_at: seconds(2), provider_gone_at: null };
    expect(recheckAt(draftOf(), row, from, isDoubtful)).toEqual(expected);
  });
});

describe('a payout', () => {
  const record = { id: 1, amount: '119.000', currency: 'eur', elsewhere: '0', isSum: false };
  const charge: PayoutEntry = {
    ...{ type: 'charge', amount: '119.000', net: '116.960', currency: 'eur', sourceId: 'ch_1' },
    ...{ record, isTwice: false, hasFailed: false, isDeleted: false },
  };
  const refund = {
    ...{ ...charge, type: 'refund', amount: '-19.000', net: '-19.000', sourceId: 're_1' },
    record: { ...record, amount: '19.000' },
  };
  const dispute = { ...refund, type: 'adjustment', sourceId: 'dp_1' };
  const unknown = { record: null };
  const failure = { ...refund, ...unknown, type: 'payment_failure_refund', sourceId: 'ch_1' };
  /** Returns the entry with a recorded payment or refund that differs in these fields. */
  const recorded = (more: object, entry = charge) => ({ ...entry, record: { ...record, ...more } });
  const parts = ['100.000', '19.000'].map((amount) => ({ ...charge, amount }));
  const matching = (...entries: PayoutEntry[]): ComparedPayout => ({
    amount: (entries.reduce((sum, { net }) => sum + Math.round(Number(net) * 1000), 0) / 1000).toFixed(3),
    ...{ currency: 'eur', status: 'paid', failureCode: null, entries, isCovered: true, isInBank: true },
  });
  const missing = { ...matching(charge), isInBank: false };
  const refused = { status: 'failed', failureCode: 'account_closed' } as const;

  test.each<[string, ComparedPayout, string[]]>([
    ['of recorded charges and refunds matches', matching(charge, refund), []],
    ['with only a Stripe fee matches', matching({ ...charge, type: 'stripe_fee', ...unknown }), []],
    ['without its entries is compared only with the bank', { ...matching(), amount: '5', entries: null }, []],
    ['reports a charge of two invoices', matching({ ...charge, isTwice: true }), ['counted_twice']],
    ['reports a charge without a payment', matching({ ...charge, ...unknown }), ['payment_unknown']],
    ['reports an unknown payment', matching({ ...charge, type: 'payment', ...unknown }), ['payment_unknown']],
    ['accepts a charge of a deleted payment', matching({ ...charge, ...unknown, isDeleted: true }), []],
    ['accepts a bank debit that failed', matching({ ...charge, ...unknown, hasFailed: true }, failure), []],
    ['reports a refund that is unknown', matching(charge, { ...refund, ...unknown }), ['refund_unknown']],
    ['reports an unknown dispute', matching(charge, { ...dispute, ...unknown }), ['dispute_unknown']],
    ['accepts a dispute over a part of its payment', matching(charge, dispute), []],
    ['reports a payment of another amount', matching(recorded({ amount: '100.000' })), ['amount_differs']],
    ['reports a refund of another sum', matching(recorded({ amount: '18.000' }, refund)), ['amount_differs']],
    ['adds up the charges of one payment', matching(...parts), []],
    [
      'adds up the charges of one payment in several payouts',
      matching({ ...recorded({ elsewhere: '19.000' }), amount: '100.000' }),
      [],
    ],
    [
      'accepts some of the charges of a sum, because the others may be in unknown payouts',
      matching({ ...recorded({ isSum: true }), amount: '100.000' }),
      [],
    ],
    [
      'reports charges above their sum',
      matching(recorded({ amount: '99', isSum: true })),
      ['amount_differs'],
    ],
    ['compares no converted amounts', matching(recorded({ amount: '130.000', currency: 'usd' })), []],
    ['reports that its entries do not add up', { ...matching(charge), amount: '1.00' }, ['sum_differs']],
    ['reports that it is missing at the bank', missing, ['not_in_bank']],
    ['is not missing before bank statements cover its days', { ...missing, isCovered: false }, []],
    ['is not missing while it is in transit', { ...missing, status: 'in_transit' }, []],
    ['reports that the bank refused it, but not that it is missing', { ...missing, ...refused }, ['failed']],
    ['of a negative amount matches', matching({ ...refund, amount: '-19.000' }), []],
  ])('a payout %s', (_name, payout, kinds) => {
    expect(comparePayout(payout).map(({ kind }) => kind)).toEqual(kinds);
  });

  test('the comparison of a payout names at most five unknown charges, and says how many there are', () => {
    const many = Array.from({ length: 7 }, (_, at) => ({ ...charge, sourceId: `ch_${at}`, record: null }));
    const [difference] = comparePayout(matching(...many));
    const named = [0, 1, 2, 3, 4].map((n) => `ch_${n} of 119.00 EUR`).join(', ');
    expect(difference?.text).toBe(`contains 7 payments not recorded here: ${named} and more`);
  });
});
