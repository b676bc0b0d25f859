import { Alert } from '@mantine/core';
import { formatCustomer, formatDate } from '@/app/_components/format';
import { listAudit } from '@/lib/audit/audit-log';
import { addMoneyBack } from '@/lib/invoices/money-back';
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
import { toId } from '../../../_components/search-params';
import { AuditTrail, withoutFields } from '../../_components/audit/audit-trail';
import { CheckButton, CheckNotice, LastCheckSection } from '../../_components/audit/check/check';
import { RecordTitle } from '../../_components/display/status';
import { Notice } from '../../_components/page/notice';
import { Page } from '../../_components/page/page-header';
import { Nothing, Section } from '../../_components/page/section';
import { rowIdIn, staffPage } from '../../_components/page/staff-page';
import { titleOfRow } from '../../_components/page/title-of';
import { EventList } from '../../_components/records/event-list';
import { InvoiceList } from '../../_components/records/invoice-list';
import { check } from '../actions';
import { ItemList, ReferenceNotice, SubscriptionFacts } from './subscription-parts';

export const generateMetadata = titleOfRow('Subscription', async (db, id) => {
  const { customer } = await getSubscription(db, id);
  return `Subscription ${id}, ${formatCustomer(customer)}`;
});

export default staffPage<{ id: string }>(async ({ params, runtime: { db, env }, search }) => {
  const id = rowIdIn(params);
  const { timeZone } = env;
  const subscription = await orNotFound(getSubscription(db, id));
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
          <InvoiceList isOwn invoices={invoices} timeZone={timeZone} />
        ) : (
          <Nothing title="No invoices" text="No invoice belongs to this subscription." />
        )}
      </Section>
      {events.length > 0 && (
        <Section
          title="Events"
          action={<TextLink href={`/admin/webhooks?id=${stripe_subscription_id}`}>All events</TextLink>}
        >
          <EventList events={events} timeZone={timeZone} />
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

function savedText({ service }: SubscriptionItem): string {
  if (!service) return 'The item is not linked to a service now.';
  const { service_number, next_billing_date: date } = service;
  const billed = date ? `, which is billed next on ${formatDate(date)}` : '';
  return `The item is linked to ${service_number}${billed}.`;
}
