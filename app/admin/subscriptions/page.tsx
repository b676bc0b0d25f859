import { Paper } from '@mantine/core';
import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/staff-session';
import { getRuntime } from '@/lib/runtime';
import {
  SUBSCRIPTION_STATUSES,
  type SubscriptionFilters,
  subscriptionFilters,
} from '@/lib/subscriptions/filters';
import { listSubscriptions } from '@/lib/subscriptions/queries';
import { formatField } from '../../_components/format';
import { type SearchParams, toParams } from '../../_components/search-params';
import { CursorFooter } from '../_components/cursor-footer';
import { FilterBar } from '../_components/filter-bar';
import { Nothing } from '../_components/nothing';
import { PageHeader } from '../_components/page-header';
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
    options: SUBSCRIPTION_STATUSES.map((value) => ({ value, label: formatField(value) })),
  },
  {
    name: 'items',
    label: 'Items',
    options: [{ value: 'unlinked', label: 'Not linked' }],
  },
  { name: 'id', label: 'Stripe ID', placeholder: 'sub_, si_, cus_' },
];

export default async function SubscriptionsPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const search = toParams(await searchParams);
  const { filters, problems, params } = parseFilters(subscriptionFilters, search);
  return (
    <>
      <PageHeader title="Subscriptions" description="As Stripe bills them, the newest first." />
      <FilterBar
        key={params.toString()}
        label="Filter subscriptions"
        path={PATH}
        fields={FIELDS}
        values={Object.fromEntries(params)}
        problems={problems}
      />
      {filters && <Results filters={filters} search={search} params={params} />}
    </>
  );
}

interface ResultsProps {
  filters: SubscriptionFilters;
  search: URLSearchParams;
  params: URLSearchParams;
}

async function Results({ filters, search, params }: ResultsProps) {
  const { db } = await getRuntime();
  const [after, before] = [search.get('after') ?? undefined, search.get('before') ?? undefined];
  const page = await listSubscriptions(db, filters, { after, before, limit: ROWS });
  return (
    <>
      <Paper withBorder radius="lg" mt="lg" style={{ overflow: 'hidden' }}>
        {page.data.length > 0 ? (
          <SubscriptionList subscriptions={page.data} />
        ) : (
          <NoSubscriptions isFirst={!after && !before} active={params.size > 0} />
        )}
      </Paper>
      <CursorFooter page={page} path={PATH} params={params} />
    </>
  );
}

function NoSubscriptions({ isFirst, active }: { isFirst: boolean; active: boolean }) {
  if (!isFirst) return <Nothing title="No more subscriptions" text="The list ends before this page." />;
  if (active) return <Nothing title="No subscriptions found" text="None matches these filters." />;
  return <Nothing title="No subscriptions yet" text="They appear here as soon as Stripe tells of one." />;
}
