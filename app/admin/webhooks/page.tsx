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
} from '@/lib/sync/inbox/event-filters';
import { listEvents } from '@/lib/sync/inbox/inbox-queries';
import { formatField } from '../../_components/format';
import { type SearchParams, toPageStart, toParams } from '../../_components/search-params';
import { CursorList } from '../_components/cursor-list';
import { EventList } from '../_components/event-list';
import { ListPage } from '../_components/list-page';
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
  const parsed = parseFilters(eventFilters, search);
  return (
    <ListPage
      title="Webhooks"
      description="What Stripe has told this service, the latest first."
      noun="events"
      path={PATH}
      fields={FIELDS}
      parsed={parsed}
    >
      {(filters) => <Results filters={filters} search={search} params={parsed.params} />}
    </ListPage>
  );
}

interface ResultsProps {
  filters: EventFilters;
  search: URLSearchParams;
  params: URLSearchParams;
}

async function Results({ filters, search, params }: ResultsProps) {
  const { db, env } = await getRuntime();
  const start = toPageStart(search);
  const page = await listEvents(db, filters, { ...start, limit: ROWS, timeZone: env.timeZone });
  return (
    <CursorList
      noun="events"
      yet="They appear here as soon as Stripe delivers one."
      {...{ page, start, path: PATH, params, fields: FIELDS }}
    >
      {(events) => <EventList events={events} timeZone={env.timeZone} />}
    </CursorList>
  );
}
