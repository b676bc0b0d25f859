import { SimpleGrid, Stack } from '@mantine/core';
import { notFound } from 'next/navigation';
import { AuditTrail, withoutFields } from '@/app/admin/_components/audit/audit-trail';
import { StripeId } from '@/app/admin/_components/display/stripe-id';
import { Facts } from '@/app/admin/_components/display/values';
import { CustomerSearch } from '@/app/admin/_components/forms/customer-search/customer-search';
import { Section } from '@/app/admin/_components/page/section';
import { CustomerSection } from '@/app/admin/_components/records/customer-link';
import { listAuditOf } from '@/lib/audit/audit-log';
import { requireStaff } from '@/lib/auth/staff-session';
import { getCustomer } from '@/lib/customers/queries';
import { getRuntime } from '@/lib/runtime';
import { getStripeCustomer, listSameEmail } from '@/lib/sync/staff/stripe-customers';
import { TextLink } from '../../../../_components/links';
import { orNotFound } from '../../../../_components/or-not-found';
import { type SearchParams, toId, toParams } from '../../../../_components/search-params';
import { Notice } from '../../../_components/page/notice';
import { PageHeader } from '../../../_components/page/page-header';
import { titleOf } from '../../../_components/page/title-of';
import { LINKED_BY } from '../../linked-by';
import { Confirmation, IsNew, IsSame } from './link-questions';

export const generateMetadata = titleOf('Stripe customer', async (id, { runtime }) => {
  const { stripe_customer_id } = await getStripeCustomer(runtime.db, id);
  return `Stripe customer ${stripe_customer_id}`;
});

const REFUSED = new Map([
  ['conflict', 'It was linked to another customer meanwhile, so nothing moved. This is its current link.'],
  ['validation_failed', 'That customer no longer exists, so nothing moved.'],
]);

interface Props {
  params: Promise<{ id: string }>;
  searchParams: Promise<SearchParams>;
}

export default async function StripeCustomerPage({ params, searchParams }: Props) {
  await requireStaff();
  const { id } = await params;
  if (!/^[\w-]{1,255}$/.test(id)) notFound();
  const query = toParams(await searchParams);
  const { db, env } = await getRuntime();
  const held = await orNotFound(getStripeCustomer(db, id));
  const to = toId(query.get('to') ?? '');
  const target = to ? await getCustomer(db, { id: to }) : null;
  const history = await listAuditOf(db, 'stripe_customer', 'stripe_customer_id', id);
  const same = held.linked_by === 'created' ? await listSameEmail(db, held.customer_id) : [];
  const path = `/admin/subscriptions/stripe-customers/${id}`;
  const { customer } = held;
  const refused = REFUSED.get(query.get('notice') ?? '');
  return (
    <>
      <PageHeader
        back={{ href: `/admin/subscriptions?id=${id}`, label: 'Its subscriptions' }}
        title="Stripe customer"
        description={<StripeId id={id} />}
      />
      {query.get('notice') === 'linked' && (
        <Notice tone="done">{`It is linked to ${customer.name || customer.customer_number}.`}</Notice>
      )}
      {refused && <Notice tone="refused">{refused}</Notice>}
      {held.linked_by === 'created' && <IsNew id={id} customerId={customer.id} same={same} />}
      {held.linked_by === 'email' && <IsSame id={id} customer={customer} />}
      <Stack gap="xl">
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing="xl">
          <CustomerSection
            title="Linked to"
            customer={customer}
            more={{ 'Matched by': LINKED_BY[held.linked_by] }}
          />
          <Section
            title="Records linked to it"
            action={<TextLink href={`/admin/webhooks?id=${id}`}>Events</TextLink>}
          >
            <Facts
              facts={{
                Subscriptions: held.subscriptions,
                Invoices: held.invoices,
                Payments: held.payments,
              }}
            />
          </Section>
        </SimpleGrid>
        {target ? (
          <div id="confirm" style={{ scrollMarginTop: 72 }}>
            <Section title={`Link it to ${target.name || target.customer_number}?`}>
              <Confirmation held={held} target={target} path={path} />
            </Section>
          </div>
        ) : (
          <Section title="Link it to another customer">
            <CustomerSearch path={path} query={query.get('q')} />
          </Section>
        )}
        {history.length > 0 && (
          <Section title="History">
            <AuditTrail entries={withoutFields(history, 'customer_id')} timeZone={env.timeZone} />
          </Section>
        )}
      </Stack>
    </>
  );
}
