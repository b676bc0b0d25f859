import { Stack } from '@mantine/core';
import { notFound, redirect } from 'next/navigation';
import { Suspense } from 'react';
import { listMergedInto } from '@/lib/customers/merged-customers';
import { findErasedAt, getCustomer } from '@/lib/customers/queries';
import { customerKind } from '@/lib/customers/save-customers';
import { listBalances, listCustomerCredits } from '@/lib/invoices/customer-balances';
import { sumUnpaidInvoices } from '@/lib/invoices/queries';
import { countRecords } from '@/lib/overview/counts';
import { listMoneyBack, ofCustomer } from '@/lib/payments/money-back';
import { listUncounted } from '@/lib/payments/stripe-payment';
import { readState } from '@/lib/records/steps';
import { listStripeCustomersOf } from '@/lib/sync/staff/stripe-customers';
import { formatCustomer, joinTexts } from '../../../_components/format';
import { TextLink } from '../../../_components/links';
import { orNotFound } from '../../../_components/or-not-found';
import { toHref } from '../../../_components/search-params';
import { History } from '../../_components/audit/audit-trail';
import { RecordTitle } from '../../_components/display/status';
import { RecordNotice } from '../../_components/forms/record/record-notice';
import { ListSkeleton } from '../../_components/lists/list-skeleton';
import { Columns, Page } from '../../_components/page/page-header';
import { Section } from '../../_components/page/section';
import { rowIdIn, staffPage } from '../../_components/page/staff-page';
import { titleOfRow } from '../../_components/page/title-of';
import { MoneyBackSection } from '../../_components/records/money-back/money-back-list';
import { RecordTasks } from '../../_components/records/record-tasks';
import { CustomerFacts } from './customer-facts';
import { Balance, CustomerActions, DONE, ERASED, KEPT, NoteForm, StripeCustomers } from './customer-parts';
import { CustomerRecords, ROWS } from './customer-records';
import { Timeline } from './timeline';

export const generateMetadata = titleOfRow('Customer', async (db, id) => {
  const customer = await getCustomer(db, { id });
  return customer && formatCustomer(customer);
});

/** A customer's page with master data, balance, records and timeline. */
export default staffPage<{ id: string }>(async ({ staff, params, runtime: { db, env }, search }) => {
  const id = rowIdIn(params);
  const customer = (await getCustomer(db, { id })) ?? notFound();
  if (customer.id !== id) redirect(`/admin/customers/${customer.id}?notice=led_on`);
  const state = await orNotFound(readState(db, customerKind, id));
  const [erasedAt, unpaid, balances, credits, counts, stripeCustomers, moneyBack, merged, uncounted] =
    await Promise.all([
      findErasedAt(db, id),
      sumUnpaidInvoices(db, customer),
      listBalances(db, id),
      listCustomerCredits(db, id),
      countRecords(db, id),
      listStripeCustomersOf(db, id),
      listMoneyBack(db, ofCustomer(id), ROWS),
      listMergedInto(db, id),
      listUncounted(db, { customer_id: id }),
    ]);
  const [before, notice] = [search.get('before'), search.get('notice')];
  const withIgnored = search.get('events') === 'all';
  const isAdmin = staff.role === 'admin';
  return (
    <Page
      back={{ href: '/admin/customers', label: 'Customers' }}
      title={<RecordTitle status={customer.status}>{formatCustomer(customer)}</RecordTitle>}
      description={joinTexts(customer.customer_number, customer.email)}
      actions={
        !erasedAt && <CustomerActions key={`${notice} ${state.version}`} {...{ customer, state, isAdmin }} />
      }
      notice={
        <>
          <RecordNotice notice={notice} done={DONE} />
          <RecordTasks entity="customer" id={id} />
        </>
      }
    >
      <Columns>
        <Stack gap="xl">
          <Balance overdue={counts.overdue} {...{ unpaid, balances, credits, uncounted }} />
          <StripeCustomers stripeCustomers={stripeCustomers} />
        </Stack>
        <CustomerFacts
          customer={customer}
          mergedNumbers={merged.map(({ customer_number }) => customer_number)}
        />
      </Columns>
      <CustomerRecords customer={customer} counts={counts} />
      <MoneyBackSection rows={moneyBack} timeZone={env.timeZone} namesPayments />
      <div id="timeline" style={{ scrollMarginTop: 72 }}>
        <Section
          title="Timeline"
          action={
            <TextLink
              href={`${toHref(`/admin/customers/${id}`, withIgnored ? {} : { events: 'all' })}#timeline`}
              prefetch={false}
            >
              {withIgnored ? 'Hide ignored events' : 'Show ignored events'}
            </TextLink>
          }
        >
          {!erasedAt && <NoteForm customerId={id} />}
          <Suspense key={`${before} ${withIgnored}`} fallback={<ListSkeleton rows={8} framed={false} />}>
            <Timeline customerId={id} {...{ before, withIgnored, isAdmin }} />
          </Suspense>
        </Section>
      </div>
      <History
        entity="customer"
        id={id}
        mergedIds={merged.map((one) => one.id)}
        kept={erasedAt ? ERASED : state.isReferredTo ? KEPT : null}
      />
    </Page>
  );
});
