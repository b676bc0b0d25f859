import { AuditTrail, withoutFields } from '@/app/admin/_components/audit/audit-trail';
import { StripeId } from '@/app/admin/_components/display/stripe-id';
import { CustomerSearch } from '@/app/admin/_components/forms/customer-search/customer-search';
import { OutcomeNotice } from '@/app/admin/_components/forms/record/record-notice';
import { Section } from '@/app/admin/_components/page/section';
import { CustomerSection } from '@/app/admin/_components/records/customer-link';
import { listAuditOf } from '@/lib/audit/audit-log';
import { getCustomer } from '@/lib/customers/queries';
import { getStripeCustomer, listSameEmail } from '@/lib/sync/staff/stripe-customers';
import { formatCustomer } from '../../../../_components/format';
import { TextLink } from '../../../../_components/links';
import { orNotFound } from '../../../../_components/or-not-found';
import { toId } from '../../../../_components/search-params';
import { Columns, Page } from '../../../_components/page/page-header';
import { staffPage, stripeIdIn } from '../../../_components/page/staff-page';
import { titleOf } from '../../../_components/page/title-of';
import { LINKED_BY } from '../../linked-by';
import { Confirmation, IsNew, IsSame } from './link-questions';

export const generateMetadata = titleOf('Stripe customer', async (id, { runtime }) => {
  const { stripe_customer_id } = await getStripeCustomer(runtime.db, id);
  return `Stripe customer ${stripe_customer_id}`;
});

const REFUSED = {
  conflict: 'It was linked to another customer meanwhile, so nothing moved. This is its current link.',
  validation_failed: 'That customer no longer exists, so nothing moved.',
};

export default staffPage<{ id: string }>(async ({ params, runtime: { db, env }, search }) => {
  const id = stripeIdIn(params);
  const held = await orNotFound(getStripeCustomer(db, id));
  const { customer, linked_by } = held;
  const to = toId(search.get('to') ?? '');
  const target = to ? await getCustomer(db, { id: to }) : null;
  const history = await listAuditOf(db, 'stripe_customer', 'stripe_customer_id', id);
  const same = linked_by === 'created' ? await listSameEmail(db, held.customer_id) : [];
  const path = `/admin/subscriptions/stripe-customers/${id}`;
  return (
    <Page
      back={{ href: `/admin/subscriptions?id=${id}`, label: 'Its subscriptions' }}
      title="Stripe customer"
      description={<StripeId id={id} />}
      notice={
        <>
          <OutcomeNotice
            notice={search.get('notice')}
            done={{ linked: `It is linked to ${formatCustomer(customer)}.` }}
            refused={REFUSED}
          />
          {linked_by === 'created' && <IsNew id={id} customerId={customer.id} same={same} />}
          {linked_by === 'email' && <IsSame id={id} customer={customer} />}
        </>
      }
    >
      <Columns>
        <CustomerSection
          title="Linked to"
          customer={customer}
          more={{ 'Matched by': LINKED_BY[linked_by] }}
        />
        <Section
          title="Records linked to it"
          action={<TextLink href={`/admin/webhooks?id=${id}`}>Events</TextLink>}
          facts={{ Subscriptions: held.subscriptions, Invoices: held.invoices, Payments: held.payments }}
        />
      </Columns>
      {target ? (
        <div id="confirm" style={{ scrollMarginTop: 72 }}>
          <Section title={`Link it to ${formatCustomer(target)}?`}>
            <Confirmation held={held} target={target} path={path} />
          </Section>
        </div>
      ) : (
        <Section title="Link it to another customer">
          <CustomerSearch path={path} query={search.get('q')} />
        </Section>
      )}
      {history.length > 0 && (
        <Section title="History">
          <AuditTrail entries={withoutFields(history, 'customer_id')} timeZone={env.timeZone} />
        </Section>
      )}
    </Page>
  );
});
