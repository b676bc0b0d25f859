import { pastPresets } from '@/lib/date-presets';

/** A page and what its address says; `deep` also measures the page that its footer leads to. */
export interface MeasuredPage {
  path: string;
  deep?: boolean;
}

const today = new Date().toISOString().slice(0, 10);
const PRESETS = pastPresets(today).map(({ from, to }) => `from=${from}&to=${to}`);
const CUSTOMERS = ['K10042', 'druckerei 77', 'gmbh'].map((text) => `customer=${encodeURIComponent(text)}`);

/** Each list in each of its orders, narrowed as staff do it, and what else they open every day. */
export const PAGES: MeasuredPage[] = [
  ...['', '?days=365'].map((query) => ({ path: `/admin${query}` })),
  ...listOf(
    'payments',
    ['date', 'amount', 'reference'],
    [
      ...['failed', 'pending', 'completed', 'refunded_in_part', 'disputed'].map(
        (status) => `status=${status}`,
      ),
      'status=failed&sort=amount',
      'status=failed&sort=reference',
      'status=refunded_in_part&sort=amount',
      'customer=K10042&sort=reference',
      'customer=druckerei%2077&sort=-amount',
      'reference=77777&sort=amount',
      'from=2018-01-01&to=2018-12-31&sort=amount',
      'reference=77777',
      'invoice=R-4711',
      `status=failed&${PRESETS[1]}`,
      `${PRESETS[1]}&sort=-amount`,
      `${PRESETS[5]}&sort=amount`,
      ...PRESETS,
      ...CUSTOMERS,
    ],
  ),
  ...listOf(
    'invoices',
    ['date', 'amount'],
    [
      ...['open', 'sent', 'overdue', 'paid', 'draft', 'refunded_in_part'].map((status) => `status=${status}`),
      'page=200000',
      'status=open&sort=-amount',
      'status=draft&sort=amount',
      'number=R-4711',
      `${PRESETS[1]}&sort=-amount`,
      'from=2018-01-01&to=2018-12-31&sort=amount',
      'status=draft&from=2018-01-01&to=2018-12-31&sort=-amount',
      ...PRESETS,
      ...CUSTOMERS,
    ],
  ),
  ...listOf(
    'customers',
    ['created', 'number', 'name'],
    [
      'q=druckerei',
      'q=gmbh',
      'q=example',
      'q=an&sort=name',
      'q=zzzzqq',
      'q=an',
      'status=active',
      'status=blocked',
      'country=AT',
      'country=AT&sort=name',
      'status=blocked&sort=name',
    ],
  ),
  ...listOf(
    'services',
    ['number', 'next-billing'],
    [
      'page=60000',
      'status=active',
      'status=draft&sort=next-billing',
      'status=cancelled&sort=next-billing',
      'type=license',
      'type=license&sort=-next-billing',
      'server=%231',
      'domain=site4711',
      PRESETS[0] ?? '',
      ...CUSTOMERS,
    ],
  ),
  ...listOf(
    'subscriptions',
    ['created', 'next-billing'],
    [
      'status=past_due',
      'status=past_due&sort=next-billing',
      'status=cancelled&sort=next-billing',
      'status=unpaid',
      'items=unlinked',
      'checkout=waiting',
      ...CUSTOMERS,
    ],
  ),
  ...listOf(
    'sales-documents',
    ['date', 'amount'],
    ['page=20000', 'type=offer&status=sent', 'status=expired&sort=-amount', ...PRESETS, ...CUSTOMERS],
  ),
  ...listOf(
    'webhooks',
    [],
    [
      'outcome=failed',
      'outcome=stale',
      'outcome=processed',
      'type=invoice.paid',
      'type=other',
      'id=in_4711',
      ...PRESETS,
    ],
  ),
  ...listOf('servers', [], []),
  ...listOf('overdue', [], ['age=over-30', 'age=1-14', 'currency=eur', 'currency=usd']),
  ...listOf('renewals', [], ['of=subscriptions', 'from=2026-12-01&to=2026-12-31', 'from=2027-11-01']),
  { path: '/admin/customers/17' },
  ...['druckerei', 'zzzzqq', 'an', 'Müller', '392.00', 'R-4711', '4711', 'site4711'].map((text) => ({
    path: `/admin/search?q=${encodeURIComponent(text)}`,
  })),
];

/** Lists with a file of all that match. */
export const FILES = [
  'payments',
  'payments?status=failed',
  'invoices',
  'invoices?status=open',
  'customers',
  'services',
  'subscriptions',
  'sales-documents',
  'webhooks',
  'servers',
  'overdue',
  'renewals',
].map((list) => `/admin/${list.replace(/\?|$/, '/export$&')}`);

function listOf(name: string, orders: string[], filters: string[]): MeasuredPage[] {
  const path = `/admin/${name}`;
  return [
    { path, deep: true },
    ...orders.flatMap((order) => [
      { path: `${path}?sort=${order}`, deep: true },
      { path: `${path}?sort=-${order}`, deep: true },
    ]),
    ...filters.map((filter) => ({ path: `${path}?${filter}` })),
  ];
}
