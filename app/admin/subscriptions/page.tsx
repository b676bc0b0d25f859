import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/staff-session';
import { getRuntime } from '@/lib/runtime';
import {
  SUBSCRIPTION_STATUSES,
  type SubscriptionFilters,
  subscriptionFilters,
} from '@/lib/subscriptions/filters';
import { listSubscriptions } from '@/lib/subscriptions/queries';
import { type SearchParams, toPageStart, toParams } from '../../_components/search-params';
import { choiceOf } from '../_components/choice';
import { CursorList } from '../_components/cursor-list';
import { ListPage } from '../_components/list-page';
import { parseFilters } from '../_components/parse-filters';
import { SubscriptionList } from './subscription-list';

export const metadata: Metadata = { title: 'Subscriptions' };

const PATH = '/admin/subscriptions';
const ROWS = 25;

const FIELDS = [
  { name: 'customer', label: 'Customer', placeholder: 'Number' },
  {
    name: 'status',
    label: 'Status',
    options: choiceOf(SUBSCRIPTION_STATUSES),
  },
  {
    name: 'items',
    label: 'Items',
    options: [{ value: 'unlinked', label: 'Not linked' }],
  },
  {
    name: 'checkout',
    label: 'Checkout',
    options: [{ value: 'waiting', label: 'Names another of ours' }],
  },
  { name: 'id', label: 'Stripe ID', placeholder: 'sub_, si_, cus_' },
];

export default async function SubscriptionsPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const search = toParams(await searchParams);
  const parsed = parseFilters(subscriptionFilters, search);
  return (
    <ListPage
      title="Subscriptions"
      description="As Stripe bills them, the newest first."
      noun="subscriptions"
      path={PATH}
      fields={FIELDS}
      parsed={parsed}
    >
      {(filters) => <Results filters={filters} search={search} params={parsed.params} />}
    </ListPage>
  );
}

interface ResultsProps {
  filters: SubscriptionFilters;
  search: URLSearchParams;
  params: URLSearchParams;
}

async function Results({ filters, search, params }: ResultsProps) {
  const { db, env } = await getRuntime();
  const start = toPageStart(search);
  const page = await listSubscriptions(db, filters, { ...start, limit: ROWS });
  return (
    <CursorList
      noun="subscriptions"
      yet="They appear here as soon as Stripe tells of one."
      {...{ page, start, path: PATH, params, fields: FIELDS }}
    >
      {(subscriptions) => <SubscriptionList subscriptions={subscriptions} timeZone={env.timeZone} />}
    </CursorList>
  );
}
