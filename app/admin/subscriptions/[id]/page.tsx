import { Alert, Stack } from '@mantine/core';
import { notFound } from 'next/navigation';
import { formatDate } from '@/app/_components/format';
import { listAudit } from '@/lib/audit/audit-log';
import { requireStaff } from '@/lib/auth/staff-session';
import { addMoneyBack } from '@/lib/invoices/money-back';
import { getRuntime } from '@/lib/runtime';
import {
  getSubscription,
  listInvoicesOf,
  listServiceChoices,
  type SubscriptionItem,
} from '@/lib/subscriptions/queries';
import { listEventsOf } from '@/lib/sync/inbox/events';
import { getLastCheck } from '@/lib/sync/staff/check-with-stripe';
import { getReference } from '@/lib/sync/staff/link-subscription';
import { getStripeCustomer } from '@/lib/sync/staff/stripe-customers';
import { TextLink } from '../../../_components/links';
import { orNotFound, orNull } from '../../../_components/or-not-found';
import { type SearchParams, toId, toParams } from '../../../_components/search-params';
import { AuditTrail, withoutFields } from '../../_components/audit/audit-trail';
import { CheckButton, CheckNotice, LastCheckSection } from '../../_components/audit/check/check';
import { RecordTitle } from '../../_components/display/status';
import { Notice } from '../../_components/page/notice';
import { PageHeader } from '../../_components/page/page-header';
import { Nothing, Section } from '../../_components/page/section';
import { titleOfRow } from '../../_components/page/title-of';
import { EventList } from '../../_components/records/event-list';
import { InvoiceList } from '../../_components/records/invoice-list';
import { check } from '../actions';
import { ItemList, ReferenceNotice, SubscriptionFacts } from './subscription-parts';

export const generateMetadata = titleOfRow('Subscription', async (db, id) => {
  const { customer } = await getSubscription(db, id);
  return `Subscription ${id}, ${customer.name || customer.customer_number}`;
});

interface Props {
  params: Promise<{ id: string }>;
  searchParams: Promise<SearchParams>;
}

export default async function SubscriptionPage({ params, searchParams }: Props) {
  await requireStaff();
  const id = toId((await params).id) ?? notFound();
  const query = toParams(await searchParams);
  const { db, env } = await getRuntime();
  const subscription = await orNotFound(getSubscription(db, id));
  const { items, stripe_customer_id, stripe_subscription_id } = subscription;
  const stripeCustomer = await orNull(getStripeCustomer(db, stripe_customer_id ?? ''));
  const reference = await getReference(db, id);
  const invoices = await addMoneyBack(db, await listInvoicesOf(db, id));
  const events = stripe_subscription_id ? await listEventsOf(db, stripe_subscription_id) : [];
  const editing = toId(query.get('item') ?? '');
  const choices = editing ? await listServiceChoices(db, subscription.customer_id) : [];
  const histories = await Promise.all([
    listAudit(db, 'subscription', id),
    ...items.map((item) => listAudit(db, 'subscription_item', item.id)),
  ]);
  const history = histories.flat().sort((a, b) => b.id - a.id);
  const lastCheck = await getLastCheck(db, history);
  const saved = items.find((item) => item.id === toId(query.get('saved') ?? ''));
  return (
    <>
      <PageHeader
        back={{ href: '/admin/subscriptions', label: 'Subscriptions' }}
        title={<RecordTitle status={subscription.status}>Subscription {id}</RecordTitle>}
        description={subscription.customer.name || subscription.customer.customer_number}
        actions={stripe_subscription_id && <CheckButton action={check.bind(null, id)} />}
      />
      <CheckNotice outcome={query.get('check')} last={lastCheck} />
      {saved && <Notice tone="done">{savedText(saved)}</Notice>}
      <Stack gap="xl">
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
        <SubscriptionFacts
          subscription={subscription}
          stripeCustomer={stripeCustomer}
          timeZone={env.timeZone}
        />
        <Section title="Items">
          {items.length > 0 ? (
            <ItemList
              subscriptionId={id}
              items={items}
              editing={editing}
              choices={choices}
              timeZone={env.timeZone}
            />
          ) : (
            <Nothing title="No items" text="Stripe has not reported any yet." />
          )}
        </Section>
        <Section title="Invoices">
          {invoices.length > 0 ? (
            <InvoiceList isOwn invoices={invoices} timeZone={env.timeZone} />
          ) : (
            <Nothing title="No invoices" text="No invoice belongs to this subscription." />
          )}
        </Section>
        {events.length > 0 && (
          <Section
            title="Events"
            action={<TextLink href={`/admin/webhooks?id=${stripe_subscription_id}`}>All events</TextLink>}
          >
            <EventList events={events} timeZone={env.timeZone} />
          </Section>
        )}
        <LastCheckSection last={lastCheck} timeZone={env.timeZone} />
        {history.length > 0 && (
          <Section title="History">
            <AuditTrail entries={withoutFields(history, 'customer_service_id')} timeZone={env.timeZone} />
          </Section>
        )}
      </Stack>
    </>
  );
}

function savedText({ service }: SubscriptionItem): string {
  if (!service) return 'The item is not linked to a service now.';
  const { service_number, next_billing_date: date } = service;
  const billed = date ? `, which is billed next on ${formatDate(date)}` : '';
  return `The item is linked to ${service_number}${billed}.`;
}
