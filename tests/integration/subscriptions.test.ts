import { text } from 'node:stream/consumers';
import { eq, sql } from 'drizzle-orm';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { customerServices, subscriptionItems, subscriptions } from '@/db/schema';
import { daysOfSum, listServiceRenewals, sumRenewals } from '@/lib/services/renewals';
import { listItemRenewals, renewalsCsv, subscriptionList } from '@/lib/subscriptions/list';
import {
  getSubscription,
  listInvoicesOf,
  listServiceChoices,
  MAX_INVOICES,
  MAX_SERVICES,
} from '@/lib/subscriptions/queries';
import { useDatabase } from '../support/database';
import {
  createCustomer,
  createInvoice,
  createService,
  createSubscription,
  createSubscriptionItem,
} from '../support/factories';
import { walkPages } from '../support/walk-pages';

const base = useDatabase();
const ids: Record<string, number> = {};
const named = (id: number) => Object.entries(ids).find(([, value]) => value === id)?.[0];

beforeAll(async () => {
  const ada = await createCustomer(base.db, { customer_number: 'K777', company: 'Acme GmbH' });
  const service = await createService(base.db, { customer_id: ada.id, service_number: 'S777' });
  const subscription = async (name: string, values: object, item?: object) => {
    ids[name] = (await createSubscription(base.db, values)).id;
    if (item) await createSubscriptionItem(base.db, { subscription_id: ids[name], ...item });
  };
  const linked = { customer_service_id: service.id, stripe_subscription_item_id: 'si_777' };
  await subscription('linked', { customer_id: ada.id, stripe_customer_id: 'cus_777' }, linked);
  await subscription('unlinked', { status: 'past_due', stripe_subscription_id: 'sub_777' }, {});
  await subscription('over', { status: 'cancelled' }, {});
  await subscription('empty', { stripe_subscription_id: null });
});

test.each<[Parameters<typeof subscriptionList.page>[1], string[]]>([
  [{}, ['empty', 'over', 'unlinked', 'linked']],
  [{ status: 'past_due' }, ['unlinked']],
  [{ customer: 'K777' }, ['linked']],
  [{ customer: 'k777' }, ['linked']],
  [{ customer: 'K77' }, ['linked']],
  [{ items: 'unlinked' }, ['unlinked']],
  [{ items: 'unlinked', status: 'active' }, []],
  [{ id: 'sub_777' }, ['unlinked']],
  [{ id: 'cus_777' }, ['linked']],
  [{ id: 'si_777' }, ['linked']],
  [{ id: 'si_nowhere' }, []],
])('the list of subscriptions filtered by %o is %j', async (filters, names) => {
  const { data } = await subscriptionList.page(base.db, filters, {}, 25);
  expect(data.map(({ id }) => named(id))).toEqual(names);
});

test('an invalid filter of the subscription list is refused', () => {
  const wrong = [{ status: 'canceled' }, { items: 'all' }, { customer: '\u0000' }, { id: '' }];
  expect(wrong.filter((filters) => subscriptionList.schema.safeParse(filters).success)).toEqual([]);
});

test('a listed subscription includes its customer and its items', async () => {
  const { data } = await subscriptionList.page(base.db, { customer: 'K777' }, {}, 25);
  const items = [{ stripe_subscription_item_id: 'si_777', service: { service_number: 'S777' } }];
  expect(data).toMatchObject([{ customer: { customer_number: 'K777', name: 'Acme GmbH' }, items }]);
});

test('the subscription list can be paged forwards and backwards, and an invalid cursor returns the first page', async () => {
  const read = (start: object) => subscriptionList.page(base.db, {}, start, 2);
  const expected = ['empty', 'over', 'unlinked', 'linked'];
  expect((await walkPages(read)).map(({ id }) => named(id))).toEqual(expected);
  expect((await read({ after: 'nonsense' })).data).toEqual((await read({})).data);
});

test('reading a subscription returns its items, and fails for an unknown id', async () => {
  const items = [{ customer_service_id: null, service: null }];
  expect(await getSubscription(base.db, ids.unlinked ?? 0)).toMatchObject({ status: 'past_due', items });
  for (const id of [0, 999_999, 9_999_999_999]) {
    await expect(getSubscription(base.db, id)).rejects.toMatchObject({ code: 'not_found' });
  }
});

test('only the latest invoices of a subscription are listed', async () => {
  const { id, customer_id } = await createSubscription(base.db);
  await createInvoice(base.db);
  for (let n = 0; n < MAX_INVOICES + 1; n += 1) {
    const invoice_date = n === 0 ? '2020-01-01' : '2026-03-01';
    await createInvoice(base.db, { customer_id, subscription_id: id, invoice_date });
  }
  const listed = await listInvoicesOf(base.db, id);
  expect(listed).toHaveLength(MAX_INVOICES);
  expect(listed.map(({ invoice_date }) => invoice_date)).not.toContain('2020-01-01');
  expect(listed[0]).toMatchObject({ total: 119, currency: 'eur', status: 'sent' });
});

test('the services that staff can link to a subscription item are sorted by service number', async () => {
  const { customer_id } = await getSubscription(base.db, ids.linked ?? 0);
  await createService(base.db, { customer_id, service_number: 'S001' });
  const offered = await listServiceChoices(base.db, customer_id);
  expect(offered.map(({ service_number }) => service_number)).toEqual(['S001', 'S777']);
  expect(offered.length).toBeLessThanOrEqual(MAX_SERVICES);
});

describe('renewals of subscriptions and services', () => {
  beforeEach(() => base.db.execute(sql`truncate subscriptions, customer_services cascade`));

  const instant = (text: string) => new Date(`${text}Z`);
  const DECEMBER = instant('2026-12-15T10:00');
  const JUNE = instant('2027-06-15T10:00');
  const VOID = { pause_behavior: 'void' } as const;
  const WITHOUT_JUNE = { '2026-12': 10 };
  const BOTH = { '2026-12': 10, '2027-06': 1200 };
  const NOTHING = {};

  /** Creates a subscription with a monthly item of 10 due in December and a yearly item of 1,200 due in June. */
  const subscribe = async (values: object, [monthly, yearly]: (Date | null)[] = [DECEMBER, JUNE]) => {
    const { id } = await createSubscription(base.db, { next_billing_date: '2026-12-15', ...values });
    const of = { subscription_id: id, currency: 'eur' };
    await createSubscriptionItem(base.db, { ...of, amount: '10', current_period_end: monthly });
    await createSubscriptionItem(base.db, { ...of, amount: '1200', current_period_end: yearly });
    return id;
  };
  const sumsOf = async (of: 'services' | 'subscriptions') => {
    const sums = await sumRenewals(base.db, of, {});
    return Object.fromEntries(sums.map(({ month, total }) => [month.slice(0, 7), total]));
  };

  /** Expects these sums by month, and that the listed renewals of each month add up to its sum. */
  const expectSums = async (of: 'services' | 'subscriptions', expected: object) => {
    expect(await sumsOf(of)).toEqual(expected);
    for (const sum of await sumRenewals(base.db, of, {})) {
      const days = daysOfSum(sum, {});
      const amounts =
        of === 'services'
          ? (await listServiceRenewals(base.db, days, {}, 25)).data.map(({ price }) => price)
          : (await listItemRenewals(base.db, days, {}, 25)).data.map(({ amount }) => Number(amount));
      expect(amounts.reduce((total, amount) => total + amount, 0)).toBe(sum.total);
    }
  };

  test.each<[string, object, object]>([
    ['continues', {}, BOTH],
    ['ends on the yearly item’s day in June', { cancel_at: JUNE }, WITHOUT_JUNE],
    ['ends in July', { cancel_at: instant('2027-07-01T00:00') }, BOTH],
    ['ends with its first period', { cancel_at: DECEMBER, cancel_at_period_end: true }, NOTHING],
    ['ends with its period on an unknown day', { cancel_at_period_end: true }, NOTHING],
    ['is paused and bills nothing', VOID, NOTHING],
    ['is paused until May', { ...VOID, pause_resumes_at: instant('2027-05-01T00:00') }, { '2027-06': 1200 }],
    ['is paused and keeps its drafts', { pause_behavior: 'keep_as_draft' }, BOTH],
    ['is unpaid', { status: 'unpaid' }, NOTHING],
  ])('the monthly renewal sums are correct for a subscription that %s', async (_, values, expected) => {
    const id = await subscribe(values);
    await expectSums('subscriptions', expected);
    const { data } = await listItemRenewals(base.db, {}, {}, 25);
    for (const { subscription } of data) expect(subscription.id).toBe(id);
    await base.db.delete(subscriptions);
    expect(await sumsOf('subscriptions')).toEqual({});
  });

  test.each([
    // 2026-11-30T23:30Z is 1 December in Berlin, and 2026-12-01T05:00Z is 30 November in Los Angeles.
    ['east of Greenwich', '2026-12-01', ['2026-11-30T23:30', '2027-06-30T22:30'], ['2026-12', '2027-07']],
    ['west of Greenwich', '2026-11-30', ['2026-12-01T05:00', '2027-05-31T05:00'], ['2026-11', '2027-05']],
    ['in a shorter month', '2026-11-30', ['2026-11-30T10:00', '2027-02-28T10:00'], ['2026-11', '2027-02']],
  ])(
    'a subscription item renews in the month of its local calendar day, %s',
    async (_, next_billing_date, ends, months) => {
      await subscribe({ next_billing_date }, ends.map(instant));
      expect(Object.keys(await sumsOf('subscriptions'))).toEqual(months);
    },
  );

  test('a subscription item without a period renews on the billing date of its subscription', async () => {
    await subscribe({ cancel_at: instant('2027-01-01T00:00') }, [null, null]);
    await expectSums('subscriptions', { '2026-12': 1210 });
  });

  test('a subscription item without a fixed amount is listed as a renewal but not summed', async () => {
    await subscribe({});
    await base.db.update(subscriptionItems).set({ amount: null }).where(eq(subscriptionItems.amount, '10'));
    expect(await sumsOf('subscriptions')).toEqual({ '2027-06': 1200 });
    const { data } = await listItemRenewals(base.db, {}, {}, 25);
    expect(data.map(({ day, amount }) => [day, amount])).toEqual([
      ['2026-12-15', null],
      ['2027-06-15', '1200.000'],
    ]);
  });

  test('the CSV file of renewals has a row with day and amount for each item', async () => {
    const id = await subscribe({ stripe_subscription_id: 'sub_csv' });
    const file = await text(renewalsCsv(base.db, {}, 'subscriptions'));
    const [head, ...lines] = file.trim().split('\r\n');
    expect(head).toContain('"next_billing_date","id","stripe_subscription_id","status","services","amount"');
    expect(lines.map((line) => line.split(',').slice(0, 7))).toEqual([
      ['"2026-12-15"', `"${id}"`, '"sub_csv"', '"active"', '""', '"10"', '"eur"'],
      ['"2027-06-15"', `"${id}"`, '"sub_csv"', '"active"', '""', '"1200"', '"eur"'],
    ]);
  });

  test('a renewal sum links to the days of its month that are in the chosen range', () => {
    const whole = { from: '2027-02-01', to: '2027-02-28' };
    const part = { from: '2027-02-10', to: '2027-02-12' };
    const wider = { from: '2026-02-10', to: '2028-02-12' };
    const days = [{}, part, wider].map((range) => daysOfSum({ month: whole.from }, range));
    expect(days).toEqual([whole, part, whole]);
  });

  test('a service with an end date does not renew on or after that date', async () => {
    const service = { status: 'active', price: '10', next_billing_date: '2026-12-15' } as const;
    for (const ends_on of [null, '2027-06-15', '2026-12-16']) {
      const { id } = await createService(base.db, { ...service, ends_on });
      await expectSums('services', { '2026-12': 10 });
      expect((await listServiceRenewals(base.db, {}, {}, 25)).data.map((row) => row.id)).toEqual([id]);
      await base.db.delete(customerServices).where(eq(customerServices.id, id));
    }
    await createService(base.db, { ...service, ends_on: '2026-12-15' });
    expect(await sumsOf('services')).toEqual({});
    expect((await listServiceRenewals(base.db, {}, {}, 25)).data).toEqual([]);
  });
});
