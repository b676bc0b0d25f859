import { describe, expect, test } from 'vitest';
import type { NotedNumber } from '@/db/schema';
import type { LinkedBy } from '@/lib/customers/sure-link';
import type { StoredCustomer, StoredLink } from '@/lib/store/snapshot';
import type { NumberOrigin, ProviderCustomer } from '@/lib/stripe/to-customer';
import {
  findLink,
  fromNoted,
  isStronger,
  type Link,
  linkCustomer,
  noteDetails,
  noteNumbers,
  recheckLink,
  takesPrecedence,
} from '@/lib/sync/decide/customer';
import type { Answers } from '@/lib/sync/decide/draft';
import { type BilledItem, matchSold, type SoldItem } from '@/lib/sync/decide/subscription/adopt-sold';
import { draftOf, NOW } from '../../support/draft';

type Source = NumberOrigin['source'];
const second = (n: number) => new Date(Date.UTC(2026, 2, 1, 0, 0, n));
const origin = (source: Source, at: number | null = 1, by: string | null = 'evt_1'): NumberOrigin => ({
  source,
  at: at === null ? null : second(at),
  by,
});
const OWN = origin('customer', null, null);
const [EARLIER, LATER] = [origin('other'), origin('other', 2)];
const number = (of: string, from: NumberOrigin) => ({ number: of, ...from });
const noted = ({ at, ...rest }: ReturnType<typeof number>): NotedNumber => ({
  ...rest,
  at: at?.toISOString() ?? null,
});

describe('customer numbers named by Stripe', () => {
  /** The origins of a customer number, from the strongest to the weakest. */
  const RANKING: [string, NumberOrigin][] = [
    ['the Stripe customer itself', origin('customer', 9, 'evt_z')],
    ['the event evt_b of a subscription in second 1', origin('subscription', 1, 'evt_b')],
    ['the event evt_c of a subscription in second 1', origin('subscription', 1, 'evt_c')],
    ['the event evt_a of a subscription in second 2', origin('subscription', 2, 'evt_a')],
    ['the subscription sub_z without an event', origin('subscription', null, '1767225600 sub_z')],
    [
      'the subscription sub_a, a second younger, without an event',
      origin('subscription', null, '1767225601 sub_a'),
    ],
    ['the event evt_a of an invoice in second 0', origin('other', 0, 'evt_a')],
  ];

  test.each(RANKING)(
    'a customer number from %s takes precedence over exactly the sources after it in the ranking',
    (_, one) => {
      const place = RANKING.findIndex(([, other]) => other === one);
      const weaker = RANKING.map((_, i) => i > place);
      expect(RANKING.map(([, other]) => takesPrecedence(one, other))).toEqual(weaker);
      expect(takesPrecedence(one, null)).toBe(one.source === 'customer');
    },
  );

  test('a customer number in a Stripe customer’s own metadata does not take precedence over another such number', () => {
    expect(takesPrecedence(origin('customer', 1, 'evt_a'), origin('customer', 9, 'evt_z'))).toBe(false);
  });

  const [LATE, EARLY] = [number('A', origin('other', 5)), number('A', origin('other', 1))];
  const [ANOTHER, ITSELF] = [number('B', origin('other', 9)), number('A', OWN)];
  test.each<[string, ReturnType<typeof number>, ReturnType<typeof number>[]]>([
    ['a different number', ANOTHER, [LATE, ANOTHER]],
    ['a listed number from a stronger origin', EARLY, [EARLY]],
    ['the customer’s own number', number('A', origin('customer')), [LATE, ITSELF]],
  ])('the list of reported customer numbers is updated after Stripe reports %s', (_, reported, expected) => {
    expect(noteNumbers([noted(LATE)], [reported])).toEqual(expected.map(noted));
  });

  test('a listed customer number that is reported again from a weaker or the same origin does not change the list', () => {
    const before = [LATE, ITSELF].map(noted);
    expect(noteNumbers(before, [number('A', origin('other', 7)), ITSELF])).toBe(before);
  });

  test('customer numbers that other Stripe objects reported are sorted with the strongest source first', () => {
    const all = [number('A', origin('other', 9)), number('B', origin('other', 2)), number('C', OWN)];
    const strongest = [...all, number('D', origin('subscription', 9))].map(noted);
    expect(fromNoted(strongest).map((one) => one.number)).toEqual(['D', 'B', 'A']);
    expect(fromNoted([noted(LATE)])).toEqual([LATE]);
  });
});

const customer = (id: number, more: Partial<StoredCustomer> = {}) =>
  ({ id, customer_number: `K${id}`, email: null, erased_at: null, version: 0, ...more }) as StoredCustomer;
const reported = (numbers: ProviderCustomer['customerNumbers'] = [], email: string | null = null) => ({
  stripeCustomerId: 'cus_1',
  customerNumbers: numbers,
  email,
  details: [],
});
const byId = <Row extends { id: number }>(rows: Row[]) => new Map(rows.map((row) => [row.id, row]));

describe('the link of a Stripe customer', () => {
  const link = (linkedBy: LinkedBy, origin: NumberOrigin | null = null): Link => ({
    ...{ customerId: 1, linkedBy, origin },
  });

  const BY_LATER = link('number', LATER);
  test.each<[string, Link, Link, boolean]>([
    ['made by staff outranks a link by number', link('staff'), link('number', OWN), true],
    ['by number outranks a link by e-mail', link('number'), link('email'), true],
    ['by e-mail outranks a created customer', link('email'), link('created'), true],
    ['by its own number outranks one by another object’s number', link('number', OWN), BY_LATER, true],
    ['by an earlier number outranks one by a later number', link('number', EARLIER), BY_LATER, true],
    ['by e-mail does not outrank another link by e-mail', link('email'), link('email'), false],
  ])('a Stripe customer’s link %s', (_, one, other, expected) => {
    expect(isStronger(one, other)).toBe(expected);
  });

  interface Case {
    numbers?: string[];
    /** Ids of the customers that have the reported e-mail address. */
    addresses?: number[];
    linkByEmail?: boolean;
    before?: Link;
  }
  const find = ({ numbers = [], addresses = [], linkByEmail = true, before }: Case) => {
    const email = (id: number) => ({ email: addresses.includes(id) ? 'ada@example.com' : null });
    const ours = [customer(1, email(1)), customer(2, email(2)), customer(3, { erased_at: NOW })];
    const draft = draftOf({
      rows: { customers: byId(ours) },
      merged: new Map([['m1', 1]]),
      withEmail: new Map([['ada@example.com', addresses]]),
      settings: { linkByEmail },
    });
    const named = numbers.map((one) => number(one, origin('other')));
    return findLink(draft, reported(named, addresses.length > 0 ? 'ADA@example.com' : null), before);
  };
  const byEmail = { customerId: 2, linkedBy: 'email', origin: null } as const;
  const byNumber = (customerId: number) =>
    ({ customerId, linkedBy: 'number', origin: origin('other') }) as const;
  const CREATED = link('created');
  test.each<[string, Case, Partial<Link> | undefined]>([
    ['is found by its number in any letter case', { numbers: ['k2'] }, byNumber(2)],
    ['is found by the first reported number that exists', { numbers: ['X9', 'K1', 'K2'] }, byNumber(1)],
    ['is found by the number of a merged customer', { numbers: ['M1'] }, byNumber(1)],
    ['is not found by its number after it is erased', { numbers: ['K3'] }, undefined],
    ['is found by its e-mail address', { addresses: [2] }, byEmail],
    ['is not found by e-mail if linking by e-mail is off', { addresses: [2], linkByEmail: false }, undefined],
    ['is not found by an e-mail address that two customers share', { addresses: [1, 2] }, undefined],
    ['is found by number rather than by e-mail', { numbers: ['K1'], addresses: [2] }, byNumber(1)],
    ['is not found by e-mail once linked by e-mail', { addresses: [2], before: link('email') }, undefined],
    [
      'is not found by e-mail if sync created it for the link',
      { addresses: [1], before: CREATED },
      undefined,
    ],
    ['is found by e-mail next to the one that sync created', { addresses: [1, 2], before: CREATED }, byEmail],
  ])('a customer %s', (_, given, expected) => expect(find(given)).toEqual(expected));
});

describe('linking a Stripe customer', () => {
  const stored = (customer_id: number, linked_by: LinkedBy, of: NumberOrigin | null = null): StoredLink => ({
    ...{ stripe_customer_id: 'cus_1', customer_id, linked_by, number_source: of?.source ?? null },
    ...{ number_reported_at: of?.at ?? null, number_reported_by: of?.by ?? null },
    numbers: of && of.source !== 'customer' ? [noted(number(`K${customer_id}`, of))] : [],
    ...{ details: [], recheck_at: null, version: 4, created_at: NOW, updated_at: NOW },
  });
  const knows = (...own: string[]) => {
    const object = reported(own.map((one) => number(one, OWN)));
    return (() => ({ state: 'found', object, asOf: NOW })) as unknown as Answers;
  };
  const failing = (() => ({ state: 'unavailable', reason: 'rate_limit' })) as unknown as Answers;
  const open = (before: StoredLink | null, answers?: Answers) => {
    const links = new Map(before ? [['cus_1', before]] : []);
    const rows = { links, customers: byId([customer(1), customer(2), customer(3)]) };
    return draftOf({ rows, ...(answers && { answers }) });
  };
  const K1 = number('K1', origin('subscription'));
  const K2 = number('K2', origin('other'));

  type Told = ProviderCustomer['customerNumbers'];
  type End = [customer: number, by: LinkedBy, source?: Source];
  const [CREATED, BY_STAFF, BY_OWN] = [stored(3, 'created'), stored(3, 'staff'), stored(3, 'number', OWN)];
  const BY_K1: End = [1, 'number', 'subscription'];
  const BY_K2: End = [2, 'number', 'other'];
  const BY_ITS_OWN: End = [3, 'number', 'customer'];
  const [STRONG, WEAK] = [stored(1, 'number', origin('subscription')), stored(2, 'number', origin('other'))];
  test.each<[string, StoredLink | null, Told, Answers | undefined, End]>([
    ['without a number creates a customer', null, [], undefined, [-1, 'created']],
    ['without a number creates a customer if Stripe does not answer', null, [], failing, [-1, 'created']],
    ['is linked by the reported number', null, [K2], undefined, BY_K2],
    ['is linked by its own number rather than by another one', null, [K2], knows('K3'), BY_ITS_OWN],
    ['moves from a created customer to the reported one', CREATED, [K2], undefined, BY_K2],
    ['moves by the reported number if Stripe does not answer', CREATED, [K2], failing, BY_K2],
    ['stays with the customer that staff chose', BY_STAFF, [K1], undefined, [3, 'staff']],
    ['does not follow a number from a weaker source', STRONG, [K2], undefined, BY_K1],
    ['follows a number from a stronger source', WEAK, [K1], undefined, BY_K1],
    ['stays linked by its own number while it has one', BY_OWN, [K1], knows('K3'), BY_ITS_OWN],
    ['is linked by the reported number if it has lost its own', BY_OWN, [K1], knows(), BY_K1],
  ])('a Stripe customer %s', (_, before, told, answers, [to, by, source = null]) => {
    const draft = open(before, answers);
    expect(linkCustomer(draft, reported(told))).toMatchObject({ customerId: to, linkedBy: by });
    const columns = { customer_id: to, linked_by: by, number_source: source };
    const recheck_at = answers === failing ? NOW : null;
    expect(draft.links.get('cus_1')).toMatchObject({ ...columns, recheck_at });
    const from = before !== null && before.customer_id !== to ? before : null;
    const move = { stripe_customer_id: 'cus_1', from: from?.customer_id, customer_id: to };
    expect(draft.moves).toEqual(from ? [move] : []);
    expect(draft.abandoned).toEqual(from === CREATED ? [3] : []);
    const isContradicted = before?.linked_by === 'number';
    expect([...draft.warnings]).toEqual(isContradicted ? [expect.stringMatching(/^cus_1 names the/)] : []);
    expect([...draft.concerned]).toEqual(['cus_1']);
  });

  test('the link of a Stripe customer is not written if Stripe reports nothing new', () => {
    const draft = open(stored(1, 'number', origin('subscription')));
    linkCustomer(draft, reported([K1]));
    expect(draft.links.changed.size).toBe(0);
  });

  test('a recheck links a Stripe customer once a customer has the reported number', () => {
    const draft = open(null, failing);
    linkCustomer(draft, reported([number('K9', origin('other'))]));
    const kept = { ...(draft.links.get('cus_1') as StoredLink), customer_id: 3 };
    expect(kept.numbers).toEqual([noted(number('K9', origin('other')))]);
    expect(recheckLink(open(kept, failing), 'cus_1')).toBe('rate_limit');
    const later = open(kept, knows());
    later.customers.put(customer(9));
    expect(recheckLink(later, 'cus_1')).toBeUndefined();
    expect(later.links.get('cus_1')).toMatchObject({ customer_id: 9, linked_by: 'number', recheck_at: null });
  });

  test('a recheck of a Stripe customer’s link sends no request to Stripe before it is due', () => {
    expect(recheckLink(open(stored(1, 'created'), failing), 'cus_1')).toBeUndefined();
  });
});

describe('matching Stripe’s items with sold items', () => {
  type Service = NonNullable<SoldItem['service']>;
  const MONTHLY = { price: '9.900', currency: 'eur', interval: 'month', isEnded: false } as const;
  const sold = (id: number, service: Partial<Service> = {}, quantity = 1): SoldItem => ({
    ...{ id, quantity, serviceId: id, service: { id, number: `S${id}`, ...MONTHLY, ...service } },
  });
  const billed = (stripeItemId: string, more: Partial<BilledItem> = {}): BilledItem => ({
    ...{ stripeItemId, amount: '9.90', currency: 'eur', interval: 'month', intervalCount: 1 },
    ...{ namedServiceId: null, namedServiceNumber: null, ...more },
  });
  const one = (service: Partial<Service>, quantity = 1) => [sold(1, service, quantity)];
  const si = (more: Partial<BilledItem> = {}) => [billed('si', more)];
  const [ONE, TWO] = [[sold(1)], [sold(1), sold(2)]];
  const two = (more: Partial<BilledItem>) => [billed('a'), billed('b', more)];
  const [yen, twoNamed] = [{ currency: 'jpy' }, { namedServiceId: '1', namedServiceNumber: 'S2' }];
  const WITHOUT_SERVICE = [sold(1), { ...sold(2), service: null }];

  test.each<[string, SoldItem[], BilledItem[], string | Record<string, number>]>([
    ['a single item at the sold price matches', ONE, si(), { si: 1 }],
    ['a quantity of three matches at three times the price', one({}, 3), si({ amount: '29.70' }), { si: 1 }],
    ['a quarter matches three months', one({ interval: 'quarter' }), si({ intervalCount: 3 }), { si: 1 }],
    ['a year matches twelve months', one({ interval: 'year' }), si({ intervalCount: 12 }), { si: 1 }],
    ['a price in yen matches', one({ price: '990', ...yen }), si({ amount: '990', ...yen }), { si: 1 }],
    ['two equal items match one service each', TWO, two({}), { a: 1, b: 2 }],
    ['an item matches the service that it names', TWO, two({ namedServiceNumber: 'S1' }), { a: 2, b: 1 }],
    ['a named service id takes precedence over a named number', TWO, two(twoNamed), { a: 2, b: 1 }],
    ['another price does not match', ONE, si({ amount: '9.89' }), 'price_differs'],
    ['another currency does not match', ONE, si({ currency: 'usd' }), 'price_differs'],
    ['a month does not match a year', ONE, si({ interval: 'year' }), 'price_differs'],
    ['a month does not match three months', ONE, si({ intervalCount: 3 }), 'price_differs'],
    ['a month does not match a week', ONE, si({ interval: 'week' }), 'price_differs'],
    ['a one-time price does not match a monthly item', one({ interval: 'once' }), si(), 'price_differs'],
    ['an additional item does not match', ONE, two({}), 'price_differs'],
    ['an item that names another service does not match', ONE, si({ namedServiceId: '2' }), 'price_differs'],
    ['an unknown amount does not match', ONE, si({ amount: null }), 'price_unknown'],
    ['a sale does not match a subscription without items', ONE, [], 'nothing_billed'],
    ['an item does not match if nothing was sold', [], si(), 'nothing_sold'],
    ['an ended service does not match', one({ isEnded: true }), si(), 'nothing_sold'],
    ['a sold item without a service does not match', WITHOUT_SERVICE, si(), 'nothing_sold'],
  ])('when a sale is matched with Stripe’s items, %s', (_, items, reported, expected) => {
    const matched = matchSold(items, reported);
    const pairs =
      typeof matched === 'string' ? [] : [...matched].map(([id, { serviceId }]) => [id, serviceId]);
    expect(typeof matched === 'string' ? matched : Object.fromEntries(pairs)).toEqual(expected);
  });
});

test('a postal address that Stripe reports again is not stored twice', () => {
  const detail = (value: Record<string, string | null>) =>
    [{ field: 'address', source: 'customer', at: null, by: null, value }] as const;
  // jsonb stores the keys in this order, which differs from the order in Stripe’s object.
  const noted = [...detail({ city: 'Berlin', street: 'Road 1', country: 'DE', postal_code: '10115' })];
  const again = { street: 'Road 1', postal_code: '10115', city: 'Berlin', country: 'DE' };
  expect(noteDetails(noted, [...detail(again)])).toBe(noted);
  const changed = [...detail({ ...again, city: null })];
  expect(noteDetails(noted, changed)).toEqual(changed);
});
