import { Stack } from '@mantine/core';
import { IconRotateClockwise } from '@tabler/icons-react';
import { notFound } from 'next/navigation';
import { listAuditOf } from '@/lib/audit/audit-log';
import { requireStaff } from '@/lib/auth/staff-session';
import { getRuntime } from '@/lib/runtime';
import {
  findRecordsOf,
  getEvent,
  isReplayable,
  listEventsOf,
  type StoredEvent,
} from '@/lib/sync/inbox/events';
import { nameChanges } from '@/lib/sync/reconcile/changes';
import { TextLink } from '../../../_components/links';
import { orNotFound } from '../../../_components/or-not-found';
import { type SearchParams, toParams } from '../../../_components/search-params';
import { AuditTrail, withoutFields } from '../../_components/audit/audit-trail';
import { ChangeList } from '../../_components/audit/change-list';
import { RecordTitle } from '../../_components/display/status';
import { SubmitButton } from '../../_components/forms/submit-button';
import { PageHeader } from '../../_components/page/page-header';
import { EmptyText, Section } from '../../_components/page/section';
import { titleOf } from '../../_components/page/title-of';
import { EventList } from '../../_components/records/event-list';
import { replay } from '../actions';
import { EventFacts, EventNotices, Payload } from './event-parts';

export const generateMetadata = titleOf('Event', async (id, { runtime }) => {
  const { type } = await getEvent(runtime.db, id);
  return `${type} ${id}`;
});

interface Props {
  params: Promise<{ id: string }>;
  searchParams: Promise<SearchParams>;
}

export default async function EventPage({ params, searchParams }: Props) {
  await requireStaff();
  const { id } = await params;
  if (!/^[\w-]{1,255}$/.test(id)) notFound();
  const query = toParams(await searchParams);
  const { db, env } = await getRuntime();
  const event = await orNotFound(getEvent(db, id));
  const records = await findRecordsOf(db, event);
  const changes = await nameChanges(db, event.changes);
  const others = event.object_id ? await listEventsOf(db, event.object_id, id) : [];
  const history = await listAuditOf(db, 'stripe_event', 'id', id);
  return (
    <>
      <PageHeader
        back={{ href: '/admin/webhooks', label: 'Webhooks' }}
        title={<RecordTitle status={event.outcome}>{event.type}</RecordTitle>}
        description={id}
        actions={isReplayable(event) && <ReplayButton id={id} />}
      />
      <Stack gap="xl">
        <EventNotices event={event} replayed={query.get('replayed')} />
        <EventFacts event={event} records={records} timeZone={env.timeZone} />
        <Section title="Changes">
          {changes.length > 0 ? (
            <ChangeList changes={changes} timeZone={env.timeZone} />
          ) : (
            <EmptyText>{noChangesText(event)}</EmptyText>
          )}
        </Section>
        <Section title="Payload">
          {event.payload === '' ? (
            <EmptyText>
              {`Bodies are dropped after ${env.eventRetentionDays} days. This event can no longer be replayed.`}
            </EmptyText>
          ) : (
            <Payload text={event.payload} />
          )}
        </Section>
        {others.length > 0 && (
          <Section
            title="Other events of this object"
            action={<TextLink href={`/admin/webhooks?id=${event.object_id}`}>All events</TextLink>}
          >
            <EventList events={others} timeZone={env.timeZone} />
          </Section>
        )}
        {history.length > 0 && (
          <Section title="History">
            <AuditTrail entries={withoutFields(history, 'changes', 'warnings')} timeZone={env.timeZone} />
          </Section>
        )}
      </Stack>
    </>
  );
}

function ReplayButton({ id }: { id: string }) {
  return (
    <form action={replay.bind(null, id)}>
      <SubmitButton leftSection={<IconRotateClockwise size={16} stroke={1.8} aria-hidden />}>
        Replay
      </SubmitButton>
    </form>
  );
}

function noChangesText({ outcome }: StoredEvent): string {
  if (outcome === 'failed') return 'None: the event failed, and nothing was saved.';
  if (outcome === 'ignored') return 'None: it was only stored.';
  if (outcome === 'unmatched') return 'None: no customer matched.';
  if (outcome === 'stale') return 'None: a newer state was already known.';
  return 'None: everything already matched.';
}
