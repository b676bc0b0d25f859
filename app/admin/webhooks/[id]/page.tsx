import { Alert, List, ListItem, Text } from '@mantine/core';
import { IconRotateClockwise } from '@tabler/icons-react';
import { TextLink } from '@/app/_components/links';
import { listAuditOf } from '@/lib/audit/audit-log';
import { THIN_WARNING } from '@/lib/sync/event-types';
import {
  findRecordsOf,
  getEvent,
  isReplayable,
  listEventsOf,
  type StoredEvent,
} from '@/lib/sync/inbox/events';
import { nameChanges } from '@/lib/sync/reconcile/changes';
import { failureText } from '../../../_components/format';
import { AuditTrail, withoutFields } from '../../_components/audit/audit-trail';
import { ChangeList } from '../../_components/audit/change-list';
import { StripeId } from '../../_components/display/stripe-id';
import { Dimmed, Instant, RecordTitle } from '../../_components/display/values';
import { OutcomeNotice } from '../../_components/forms/record/record-notice';
import { SubmitButton } from '../../_components/forms/submit-button';
import {
  Columns,
  orNotFound,
  Page,
  Section,
  staffPage,
  stripeIdIn,
  titleOf,
} from '../../_components/page/staff-page';
import { CustomerLink } from '../../_components/records/customer-link';
import { InvoiceLink } from '../../_components/records/invoice-list';
import { replay } from '../actions';
import { EventList } from '../list';
import classes from './payload.module.css';

export const generateMetadata = titleOf('Event', async (id, { runtime }) => {
  const { type } = await getEvent(runtime.db, id);
  return `${type} ${id}`;
});

export default staffPage<{ id: string }>(async ({ params, db, timeZone, runtime: { env }, search }) => {
  const id = stripeIdIn(params);
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
          `Event bodies are deleted after ${env.eventRetentionDays} days. This event can no longer be replayed.`
        }
      >
        <Payload text={event.payload} />
      </Section>
      {others.length > 0 && (
        <Section
          title="Other events of this object"
          action={<TextLink href={`/admin/webhooks?id=${event.object_id}`}>All events</TextLink>}
        >
          <EventList rows={others} timeZone={timeZone} />
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
  unmatched: 'it names no customer.',
  stale: 'a newer state was already known.',
};

const REPLAYED = {
  processed: 'Replayed: the event was applied.',
  stale: 'Replayed: a newer state was already known, so nothing changed.',
  unmatched: 'Replayed: the event names no customer, so nothing changed.',
  ignored: 'Replayed: events of this type change nothing here.',
};
const NOT_REPLAYED = {
  dropped: 'Not replayed: the event is too old, and its body was removed.',
  failed: 'Replayed, but it failed again. Nothing was saved.',
};

/** Shows the outcome of a replay, whether the event failed or names no customer, and the event's warnings. */
function EventNotices({ event, replayed }: { event: StoredEvent; replayed: string | null }) {
  const { outcome, error_code, failure_reason, warnings } = event;
  return (
    <>
      <OutcomeNotice notice={replayed} done={REPLAYED} refused={NOT_REPLAYED} />
      {outcome === 'failed' && (
        <Alert color="red" variant="light" title="The event failed">
          {failure_reason ? (
            `${failure_reason} It is kept as Stripe sent it and is retried only when someone replays it.`
          ) : (
            <>
              {failureText(error_code)} {error_code && `Code ${error_code}.`} The next reconciliation tries it
              again; you can do so now.
            </>
          )}
        </Alert>
      )}
      {outcome === 'unmatched' && (
        <Alert color="orange" variant="light" title="The event names no customer">
          It is kept, and is retried when Stripe delivers it again or someone replays it.
        </Alert>
      )}
      {warnings.length > 0 && (
        <Alert color="orange" variant="light" title={warnings.length === 1 ? 'A warning' : 'Warnings'}>
          <Warnings warnings={warnings} />
          {outcome === 'ignored' && !warnings.includes(THIN_WARNING) && (
            <Text size="sm">If you replay the event, it is applied anyway.</Text>
          )}
        </Alert>
      )}
    </>
  );
}

function Warnings({ warnings }: { warnings: string[] }) {
  const sentences = warnings.map((text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`);
  if (sentences.length === 1) return <Text size="sm">{sentences[0]}</Text>;
  return (
    <List size="sm">
      {sentences.map((sentence) => (
        <ListItem key={sentence}>{sentence}</ListItem>
      ))}
    </List>
  );
}

interface FactsProps {
  event: StoredEvent;
  records: Awaited<ReturnType<typeof findRecordsOf>>;
  timeZone: string;
}

/** Shows facts about an event, such as its dates, and the records that it concerns. */
function EventFacts({ event, records, timeZone }: FactsProps) {
  const { customer, invoice, subscription_id, payment_id } = records;
  const { stripe_customer_id: stripeCustomer } = event;
  return (
    <Columns>
      <Section
        title="Event"
        facts={{
          'API version': event.api_version,
          Mode: event.livemode ? 'Live' : 'Test',
          Created: <Instant at={event.stripe_created} timeZone={timeZone} seconds />,
          Received: <Instant at={event.created_at} timeZone={timeZone} seconds />,
          Processed: event.processed_at && <Instant at={event.processed_at} timeZone={timeZone} seconds />,
          Attempts: event.attempts,
        }}
      />
      <Section
        title="About"
        facts={{
          'Event ID': <StripeId id={event.id} />,
          Object: event.object_id && <StripeId id={event.object_id} />,
          'Stripe customer': stripeCustomer && (
            <StripeId
              id={stripeCustomer}
              href={customer ? `/admin/subscriptions/stripe-customers/${stripeCustomer}` : undefined}
            />
          ),
          Customer: customer && <CustomerLink customer={customer} />,
          Subscription: subscription_id && (
            <TextLink href={`/admin/subscriptions/${subscription_id}`}>{subscription_id}</TextLink>
          ),
          Invoice: invoice && <InvoiceLink invoice={invoice} />,
          Payment: payment_id && <TextLink href={`/admin/payments/${payment_id}`}>{payment_id}</TextLink>,
        }}
      />
    </Columns>
  );
}

/** Maximum number of characters to show. A longer page would open slowly. Stripe's events are about a tenth as long. */
const MAX_SHOWN = 200_000;

/** Shows the body of an event as indented JSON. A body that is too long is cut off. */
function Payload({ text }: { text: string }) {
  const pretty = prettyJson(text);
  const hidden = pretty.length - MAX_SHOWN;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users can scroll only a focusable region */}
      <section className={classes.region} tabIndex={0} aria-label="Payload">
        <pre className={classes.text}>{pretty.slice(0, MAX_SHOWN)}</pre>
      </section>
      {hidden > 0 && <Dimmed p="md">{`The last ${hidden} characters are not shown.`}</Dimmed>}
    </>
  );
}

/** Indents JSON text. Returns the text unchanged if it cannot be parsed, or is nested too deeply to be formatted. */
function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
