import type { EventRow } from '@/lib/sync/inbox/events';
import { Instant, StatusBadge } from '../display/values';
import { RecordList } from '../lists/record-list';

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
