import { pastPresets } from '@/lib/dates';
import type { EventRow } from '@/lib/sync/inbox/events';
import {
  EVENT_OUTCOMES,
  EVENT_TYPES,
  eventFilters,
  eventsCsv,
  listEvents,
  OTHER_MODE,
  OTHER_TYPES,
} from '@/lib/sync/inbox/events';
import { formatField } from '../../_components/format';
import { Instant, StatusBadge } from '../_components/display/values';
import { declareList } from '../_components/lists/list-declaration';
import { RecordList } from '../_components/lists/record-list';

const ROWS = 50;
const NAMES: Record<string, string> = {
  [OTHER_TYPES]: 'Other types',
  [OTHER_MODE]: 'Wrong mode (test/live)',
};

export const EVENTS = declareList({
  title: 'Webhooks',
  description: 'What Stripe has reported, the latest first.',
  path: '/admin/webhooks',
  noun: 'event',
  yet: 'They appear here as soon as Stripe delivers one.',
  source: {
    schema: eventFilters,
    read: (db, filters, { start }, { env }) =>
      listEvents(db, filters, { ...start, limit: ROWS, timeZone: env.timeZone }),
    csv: (db, filters, { env }) => eventsCsv(db, filters, env.timeZone),
  },
  fields: (today) => [
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
    { name: 'from', label: 'Created', presets: pastPresets(today) },
  ],
  Rows: EventList,
});

/** Shows Stripe events with their outcomes, each linked to its page. */
export function EventList({ rows, timeZone }: { rows: EventRow[]; timeZone: string }) {
  return (
    <RecordList
      label="Events"
      rows={rows}
      hrefOf={({ id }) => `/admin/webhooks/${encodeURIComponent(id)}`}
      nameOf={({ type }) => type}
      columns={[
        {
          label: 'Created',
          width: '22%',
          cell: ({ stripe_created }) => <Instant at={stripe_created} timeZone={timeZone} seconds />,
        },
        { label: 'Type', cell: ({ type }) => <strong>{type}</strong>, title: ({ type }) => type },
        { label: 'Object', width: '32%', cell: ({ object_id }) => object_id, title: true },
        { label: 'Outcome', width: '14%', cell: ({ outcome }) => <StatusBadge status={outcome} /> },
      ]}
      entryOf={({ type, stripe_created, object_id, outcome }) => ({
        title: type,
        detail: (
          <>
            <Instant at={stripe_created} timeZone={timeZone} seconds />
            {object_id && ` · ${object_id}`}
          </>
        ),
        state: <StatusBadge status={outcome} />,
      })}
    />
  );
}
