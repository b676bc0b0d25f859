import { IconRotateClockwise } from '@tabler/icons-react';
import { listAuditOf } from '@/lib/audit/audit-log';
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
import { AuditTrail, withoutFields } from '../../_components/audit/audit-trail';
import { ChangeList } from '../../_components/audit/change-list';
import { RecordTitle } from '../../_components/display/status';
import { SubmitButton } from '../../_components/forms/submit-button';
import { Page } from '../../_components/page/page-header';
import { Section } from '../../_components/page/section';
import { staffPage, stripeIdIn } from '../../_components/page/staff-page';
import { titleOf } from '../../_components/page/title-of';
import { EventList } from '../../_components/records/event-list';
import { replay } from '../actions';
import { EventFacts, EventNotices, Payload } from './event-parts';

export const generateMetadata = titleOf('Event', async (id, { runtime }) => {
  const { type } = await getEvent(runtime.db, id);
  return `${type} ${id}`;
});

export default staffPage<{ id: string }>(async ({ params, runtime: { db, env }, search }) => {
  const id = stripeIdIn(params);
  const { timeZone } = env;
  const event = await orNotFound(getEvent(db, id));
  const records = await findRecordsOf(db, event);
  const changes = await nameChanges(db, event.changes);
  const others = event.object_id ? await listEventsOf(db, event.object_id, id) : [];
  const history = await listAuditOf(db, 'stripe_event', 'id', id);
  return (
    <Page
      back={{ href: '/admin/webhooks', label: 'Webhooks' }}
      title={<RecordTitle status={event.outcome}>{event.type}</RecordTitle>}
      description={id}
      actions={isReplayable(event) && <ReplayButton id={id} />}
    >
      <EventNotices event={event} replayed={search.get('replayed')} />
      <EventFacts event={event} records={records} timeZone={timeZone} />
      <Section title="Changes" none={changes.length === 0 && noChangesText(event)}>
        <ChangeList changes={changes} timeZone={timeZone} />
      </Section>
      <Section
        title="Payload"
        none={
          event.payload === '' &&
          `Bodies are dropped after ${env.eventRetentionDays} days. This event can no longer be replayed.`
        }
      >
        <Payload text={event.payload} />
      </Section>
      {others.length > 0 && (
        <Section
          title="Other events of this object"
          action={<TextLink href={`/admin/webhooks?id=${event.object_id}`}>All events</TextLink>}
        >
          <EventList events={others} timeZone={timeZone} />
        </Section>
      )}
      {history.length > 0 && (
        <Section title="History">
          <AuditTrail entries={withoutFields(history, 'changes', 'warnings')} timeZone={timeZone} />
        </Section>
      )}
    </Page>
  );
});

function ReplayButton({ id }: { id: string }) {
  return (
    <form action={replay.bind(null, id)}>
      <SubmitButton leftSection={<IconRotateClockwise size={16} stroke={1.8} aria-hidden />}>
        Replay
      </SubmitButton>
    </form>
  );
}

const noChangesText = ({ outcome }: StoredEvent): string =>
  `None: ${WHY_NONE[outcome] ?? 'everything already matched.'}`;

const WHY_NONE: Partial<Record<StoredEvent['outcome'], string>> = {
  failed: 'the event failed, and nothing was saved.',
  ignored: 'it was only stored.',
  unmatched: 'no customer matched.',
  stale: 'a newer state was already known.',
};
