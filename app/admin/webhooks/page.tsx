import { Paper } from '@mantine/core';
import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/staff-session';
import { getRuntime } from '@/lib/runtime';
import {
  EVENT_OUTCOMES,
  EVENT_TYPES,
  type EventFilters,
  eventFilters,
  OTHER_MODE,
  OTHER_TYPES,
} from '@/lib/sync/event-filters';
import { listEvents } from '@/lib/sync/inbox-queries';
import { formatField } from '../../_components/format';
import { type SearchParams, toParams } from '../../_components/search-params';
import { CursorFooter } from '../_components/cursor-footer';
import { EventList } from '../_components/event-list';
import { FilterBar } from '../_components/filter-bar';
import { Nothing } from '../_components/nothing';
import { PageHeader } from '../_components/page-header';
import { parseFilters } from '../_components/parse-filters';

export const metadata: Metadata = { title: 'Webhooks' };

const PATH = '/admin/webhooks';
const ROWS = 50;
const NAMES: Record<string, string> = { [OTHER_TYPES]: 'Other types', [OTHER_MODE]: 'Of the other mode' };

const FIELDS = [
  {
    name: 'type',
    label: 'Type',
    options: EVENT_TYPES.map((value) => ({ value, label: NAMES[value] ?? value })),
  },
  {
    name: 'outcome',
    label: 'Outcome',
    options: EVENT_OUTCOMES.map((value) => ({ value, label: NAMES[value] ?? formatField(value) })),
  },
  { name: 'id', label: 'Stripe ID', placeholder: 'evt_, in_, sub_, cs_, cus_' },
  { name: 'from', label: 'From', type: 'date' as const },
  { name: 'to', label: 'To', type: 'date' as const },
];

export default async function WebhooksPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const search = toParams(await searchParams);
  const { filters, problems, params } = parseFilters(eventFilters, search);
  return (
    <>
      <PageHeader title="Webhooks" description="What Stripe has told this service, the latest first." />
      <FilterBar
        key={params.toString()}
        label="Filter events"
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
  filters: EventFilters;
  search: URLSearchParams;
  params: URLSearchParams;
}

async function Results({ filters, search, params }: ResultsProps) {
  const { db, env } = await getRuntime();
  const [after, before] = [search.get('after') ?? undefined, search.get('before') ?? undefined];
  const page = await listEvents(db, filters, { after, before, limit: ROWS, timeZone: env.timeZone });
  return (
    <>
      <Paper withBorder radius="lg" mt="lg" style={{ overflow: 'hidden' }}>
        {page.data.length > 0 ? (
          <EventList events={page.data} timeZone={env.timeZone} />
        ) : (
          <NoEvents isFirst={!after && !before} active={params.size > 0} />
        )}
      </Paper>
      <CursorFooter page={page} path={PATH} params={params} />
    </>
  );
}

function NoEvents({ isFirst, active }: { isFirst: boolean; active: boolean }) {
  if (!isFirst) return <Nothing title="No more events" text="The list ends before this page." />;
  if (active) return <Nothing title="No events found" text="None matches these filters." />;
  return <Nothing title="No events yet" text="They appear here as soon as Stripe delivers one." />;
}
