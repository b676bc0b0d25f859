import { Alert, Badge, Box, Group, Stack, Text } from '@mantine/core';
import { formatCustomer, formatDate, formatDay, joinTexts } from '@/app/_components/format';
import { TextLink } from '@/app/_components/links';
import { toId } from '@/app/_components/search-params';
import { listAudit } from '@/lib/audit/audit-log';
import { toCalendarDate } from '@/lib/dates';
import { addMoneyBack } from '@/lib/invoices/money-back';
import {
  getSubscription,
  listInvoicesOf,
  listServiceChoices,
  MAX_SERVICES,
  type ServiceChoice,
  type SubscriptionDetails,
  type SubscriptionItem,
} from '@/lib/subscriptions/queries';
import { listEventsOf } from '@/lib/sync/inbox/events';
import { getLastCheck } from '@/lib/sync/staff/check-with-stripe';
import { getReference, type Obstacle, type Reference } from '@/lib/sync/staff/link-subscription';
import { getStripeCustomer } from '@/lib/sync/staff/stripe-customers';
import { AuditTrail, withoutFields } from '../../_components/audit/audit-trail';
import { CheckButton, CheckNotice, LastCheckSection } from '../../_components/audit/check/check';
import { StripeId } from '../../_components/display/stripe-id';
import { Instant, RecordTitle, StatusBadge } from '../../_components/display/values';
import { ActionForm } from '../../_components/forms/form';
import { OutcomeNotice } from '../../_components/forms/record/record-notice';
import { SubmitButton } from '../../_components/forms/submit-button';
import classes from '../../_components/lists/list.module.css';
import { Notice } from '../../_components/page/notice';
import {
  Columns,
  Nothing,
  orNull,
  Page,
  recordPage,
  Section,
  titleOfRow,
} from '../../_components/page/staff-page';
import { CustomerSection } from '../../_components/records/customer-link';
import { InvoiceList } from '../../_components/records/invoice-list';
import { EventList } from '../../webhooks/list';
import { adopt, check, decline, saveLink } from '../actions';
import { LINKED_BY } from '../subscription-list';

export const generateMetadata = titleOfRow(
  'Subscription',
  getSubscription,
  ({ id, customer }) => `Subscription ${id}, ${formatCustomer(customer)}`,
);

export default recordPage(getSubscription, async (subscription, { id, db, timeZone, search, notice }) => {
  const { items, stripe_customer_id, stripe_subscription_id } = subscription;
  const stripeCustomer = await orNull(getStripeCustomer(db, stripe_customer_id ?? ''));
  const reference = await getReference(db, id);
  const invoices = await addMoneyBack(db, await listInvoicesOf(db, id));
  const events = stripe_subscription_id ? await listEventsOf(db, stripe_subscription_id) : [];
  const editing = toId(search.get('item') ?? '');
  const choices = editing ? await listServiceChoices(db, subscription.customer_id) : [];
  const histories = await Promise.all([
    listAudit(db, 'subscription', id),
    ...items.map((item) => listAudit(db, 'subscription_item', item.id)),
  ]);
  const history = histories.flat().sort((a, b) => b.id - a.id);
  const lastCheck = await getLastCheck(db, history);
  const saved = items.find((item) => item.id === toId(search.get('saved') ?? ''));
  return (
    <Page
      back={{ href: '/admin/subscriptions', label: 'Subscriptions' }}
      title={<RecordTitle status={subscription.status}>Subscription {id}</RecordTitle>}
      description={formatCustomer(subscription.customer)}
      actions={stripe_subscription_id && <CheckButton action={check.bind(null, id)} />}
      notice={
        <>
          <OutcomeNotice notice={notice} done={{}} refused={REFUSED} />
          <CheckNotice outcome={search.get('check')} last={lastCheck} />
          {saved && <Notice tone="done">{savedText(saved)}</Notice>}
        </>
      }
    >
      {subscription.provider_gone_at && (
        <Alert color="orange" variant="light" title="No longer at Stripe">
          Stripe no longer has this subscription. This is its last known state.
        </Alert>
      )}
      {subscription.recheck_at && (
        <Alert color="orange" variant="light" title="To be checked">
          Stripe has not confirmed its state yet. The next reconciliation checks it.
        </Alert>
      )}
      {reference && <ReferenceNotice id={id} reference={reference} />}
      <SubscriptionFacts {...{ subscription, stripeCustomer, timeZone }} />
      <Section title="Items">
        {items.length > 0 ? (
          <ItemList subscriptionId={id} {...{ items, editing, choices, timeZone }} />
        ) : (
          <Nothing title="No items" text="Stripe has not reported any yet." />
        )}
      </Section>
      <Section title="Invoices">
        {invoices.length > 0 ? (
          <InvoiceList isOwn rows={invoices} timeZone={timeZone} />
        ) : (
          <Nothing title="No invoices" text="No invoice belongs to this subscription." />
        )}
      </Section>
      {events.length > 0 && (
        <Section
          title="Events"
          action={<TextLink href={`/admin/webhooks?id=${stripe_subscription_id}`}>All events</TextLink>}
        >
          <EventList rows={events} timeZone={timeZone} />
        </Section>
      )}
      <LastCheckSection last={lastCheck} timeZone={timeZone} />
      {history.length > 0 && (
        <Section title="History">
          <AuditTrail entries={withoutFields(history, 'customer_service_id')} timeZone={timeZone} />
        </Section>
      )}
    </Page>
  );
});

/** The sentence for each code with which `adopt` or `decline` was refused. */
const REFUSED = {
  conflict: 'Nothing was changed, because it can no longer be merged with the other subscription.',
  not_found: 'Nothing was changed, because its checkout no longer waits for a decision.',
};

function savedText({ service }: SubscriptionItem): string {
  if (!service) return 'The item is no longer linked to a service.';
  const { service_number, next_billing_date: date } = service;
  const billed = date ? `, which is billed next on ${formatDate(date)}` : '';
  return `The item is linked to ${service_number}${billed}.`;
}

const WHY: Record<Obstacle, string> = {
  customer_unsure: 'the link of its Stripe customer is not confirmed yet',
  other_customer: 'that subscription belongs to another customer',
  already_linked: 'that subscription is linked to another subscription at Stripe',
  cancelled: 'that subscription is cancelled',
  nothing_sold: 'there is no record of what was sold with that subscription',
  nothing_billed: 'Stripe has not yet reported what it bills',
  price_unknown: 'its price at Stripe has no fixed amount',
  price_differs: 'Stripe bills something other than what was sold',
};

/** Shows the subscription that the checkout refers to, why the two were not merged, and what staff can do. */
function ReferenceNotice({ id, reference }: { id: number; reference: Reference }) {
  const { obstacle, canAdopt } = reference;
  return (
    <Alert color="orange" variant="light" title="Its checkout refers to another subscription">
      <Text size="sm">
        It refers to{' '}
        <TextLink href={`/admin/subscriptions/${reference.id}`}>subscription {reference.id}</TextLink>
        {`, but was not linked to it because ${obstacle ? WHY[obstacle] : 'Stripe has not reported anything since'}. Payers can enter any reference.`}
      </Text>
      <Group mt="sm">
        {canAdopt && (
          <form action={adopt.bind(null, id)}>
            <SubmitButton>{`It is subscription ${reference.id}`}</SubmitButton>
          </form>
        )}
        <form action={decline.bind(null, id)}>
          <SubmitButton variant="default">Leave it as it is</SubmitButton>
        </form>
      </Group>
    </Alert>
  );
}

interface FactsProps {
  subscription: SubscriptionDetails;
  stripeCustomer: Awaited<ReturnType<typeof getStripeCustomer>> | null;
  timeZone: string;
}

/** Shows the state of a subscription, and its customer. */
function SubscriptionFacts({ subscription, stripeCustomer, timeZone }: FactsProps) {
  const {
    customer,
    status,
    next_billing_date: next,
    cancel_at,
    pause_behavior,
    pause_resumes_at,
  } = subscription;
  const isLive = status !== 'cancelled';
  const isBilled = isLive && !(next && cancel_at && next >= toCalendarDate(cancel_at, timeZone));
  const instant = (at: Date | null) => at && <Instant at={at} timeZone={timeZone} />;
  return (
    <Columns>
      <Section
        title="Subscription"
        facts={{
          'Stripe ID': subscription.stripe_subscription_id ? (
            <StripeId id={subscription.stripe_subscription_id} />
          ) : (
            'Not at Stripe yet'
          ),
          'Next billing': isBilled ? next && formatDate(next) : undefined,
          'Ends on': isLive ? cancel_at && formatDay(cancel_at, timeZone) : undefined,
          Collection: isLive && pause_behavior ? pauseText(pause_resumes_at, timeZone) : undefined,
          Ended: instant(subscription.ended_at) ?? undefined,
          'State as of': instant(subscription.provider_as_of),
          'Last synced': instant(subscription.stripe_synced_at),
        }}
      />
      <CustomerSection
        customer={customer}
        all={{ path: '/admin/subscriptions', label: 'All subscriptions' }}
        more={{
          'Stripe customer': stripeCustomer && (
            <StripeId
              id={stripeCustomer.stripe_customer_id}
              href={`/admin/subscriptions/stripe-customers/${stripeCustomer.stripe_customer_id}`}
            />
          ),
          'Matched by': stripeCustomer && LINKED_BY[stripeCustomer.linked_by],
        }}
      />
    </Columns>
  );
}

function pauseText(resumesAt: Date | null, timeZone: string): string {
  return resumesAt ? `Paused until ${formatDay(resumesAt, timeZone)}` : 'Paused';
}

interface ItemsProps {
  subscriptionId: number;
  items: SubscriptionItem[];
  /** Id of the item whose service the person is choosing. Null if no item is being changed. */
  editing: number | null;
  choices: ServiceChoice[];
  timeZone: string;
}

const SERVICE = { name: 'service_number', label: 'Service', autoFocus: true };

/** Shows the items of a subscription, with the service that each item pays for. */
function ItemList({ subscriptionId, items, editing, choices, timeZone }: ItemsProps) {
  const path = `/admin/subscriptions/${subscriptionId}`;
  return items.map((item) => (
    <Box key={item.id} id={`item-${item.id}`} className={classes.entry ?? ''} style={{ scrollMarginTop: 72 }}>
      <Group justify="space-between" align="flex-start" gap="sm" wrap="nowrap">
        <Stack gap={2} miw={0}>
          <Service service={item.service} />
          <Text size="xs" c="dimmed" className="break-anywhere">
            {`${item.stripe_subscription_item_id ?? 'Not at Stripe yet'} · quantity ${item.quantity}`}
            {item.current_period_end && (
              <>
                {' · paid until '}
                <Instant at={item.current_period_end} timeZone={timeZone} />
              </>
            )}
          </Text>
        </Stack>
        {editing !== item.id && (
          <TextLink
            href={`${path}?item=${item.id}#item-${item.id}`}
            flex="none"
            aria-label={`${item.service ? 'Change' : 'Link'} the service of item ${item.id}`}
          >
            {item.service ? 'Change' : 'Link'}
          </TextLink>
        )}
      </Group>
      {editing === item.id && (
        <ActionForm
          action={saveLink.bind(null, subscriptionId, item.id)}
          typed={{ service_number: item.service?.service_number ?? '' }}
          fields={[
            choices.length < MAX_SERVICES
              ? {
                  ...SERVICE,
                  kind: 'choice',
                  options: [{ value: '', label: 'None' }, ...choices.map(toOption)],
                }
              : { ...SERVICE, description: 'Service number. Leave empty to unlink.' },
          ]}
          submit="Save"
          cancel={`${path}#item-${item.id}`}
          stack={{ gap: 'sm', mt: 'md', maw: 480 }}
          button={{ size: 'xs' }}
        />
      )}
    </Box>
  ));
}

function Service({ service }: Pick<SubscriptionItem, 'service'>) {
  if (!service) {
    return (
      <Badge variant="light" radius="sm" size="md" tt="none" fw={500} color="orange">
        Not linked to a service
      </Badge>
    );
  }
  const { service_number, name, domain, status, next_billing_date, ends_on } = service;
  return (
    <>
      <Group gap="xs">
        <Text size="sm" fw={500} className="break-anywhere">
          {joinTexts(service_number, name, domain)}
        </Text>
        <StatusBadge status={status} />
      </Group>
      <Text size="sm">
        {next_billing_date ? `Billed next on ${formatDate(next_billing_date)}` : 'Has no billing date'}
        {ends_on && ` · ends on ${formatDate(ends_on)}`}
      </Text>
    </>
  );
}

function toOption({ service_number, name, domain, status }: ServiceChoice) {
  const state = status === 'active' ? '' : ` (${status})`;
  return { value: service_number, label: `${joinTexts(service_number, name, domain)}${state}` };
}
