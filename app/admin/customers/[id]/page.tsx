import { Stack } from '@mantine/core';
import { redirect } from 'next/navigation';
import { Suspense } from 'react';
import { formatCustomer, joinTexts } from '@/app/_components/format';
import { TextLink } from '@/app/_components/links';
import { toHref } from '@/app/_components/search-params';
import { listMergedInto } from '@/lib/customers/merged-customers';
import { findErasedAt } from '@/lib/customers/queries';
import { customerKind } from '@/lib/customers/save-customers';
import { listBalances, listCustomerCredits } from '@/lib/invoices/customer-balances';
import { sumUnpaidInvoices } from '@/lib/invoices/queries';
import { countRecords } from '@/lib/overview/counts';
import { listMoneyBack, ofCustomer } from '@/lib/payments/money-back';
import { listTransferCredits, listTransfers } from '@/lib/payments/queries';
import { listUncounted } from '@/lib/payments/stripe-payment';
import { readState } from '@/lib/records/steps';
import { listStripeCustomersOf } from '@/lib/sync/staff/stripe-customers';
import { History } from '../../_components/audit/audit-trail';
import { RecordTitle } from '../../_components/display/values';
import { RecordNotice } from '../../_components/forms/record/record-notice';
import { ListSkeleton } from '../../_components/lists/list-skeleton';
import {
  Columns,
  orNotFound,
  Page,
  recordPage,
  Section,
  titleOfRow,
} from '../../_components/page/staff-page';
import { MoneyBackSection } from '../../_components/records/money-back/money-back-list';
import { RecordTasks } from '../../_components/records/record-alerts';
import { readCustomer } from '../form-parts';
import { CustomerFacts } from './customer-facts';
import {
  Balance,
  CustomerActions,
  DONE,
  ERASED,
  KEPT,
  NoteForm,
  StripeCustomers,
  TransferSection,
} from './customer-parts';
import { CustomerRecords, ROWS } from './customer-records';
import { Timeline } from './timeline';

export const generateMetadata = titleOfRow('Customer', readCustomer, formatCustomer);

/** Shows a customer. The address of a merged customer redirects to the customer that it was merged into. */
export default recordPage(readCustomer, async (customer, { id, staff, db, timeZone, search, notice }) => {
  if (customer.id !== id) redirect(`/admin/customers/${customer.id}?notice=led_on`);
  const state = await orNotFound(readState(db, customerKind, id));
  const [
    erasedAt,
    unpaid,
    balances,
    credits,
    transferCredits,
    transfers,
    counts,
    stripeCustomers,
    moneyBack,
    merged,
    uncounted,
  ] = await Promise.all([
    findErasedAt(db, id),
    sumUnpaidInvoices(db, customer),
    listBalances(db, id),
    listCustomerCredits(db, id),
    listTransferCredits(db, id),
    listTransfers(db, id),
    countRecords(db, id),
    listStripeCustomersOf(db, id),
    listMoneyBack(db, ofCustomer(id), ROWS),
    listMergedInto(db, id),
    listUncounted(db, { customer_id: id }),
  ]);
  const before = search.get('before');
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
          <Balance
            overdue={counts.overdue}
            statementPath={`/admin/customers/${id}/statement`}
            transferPath={erasedAt ? null : `/admin/customers/${id}/transfer`}
            {...{ unpaid, balances, credits, transferCredits, uncounted }}
          />
          <StripeCustomers stripeCustomers={stripeCustomers} />
        </Stack>
        <CustomerFacts
          customer={customer}
          mergedNumbers={merged.map(({ customer_number }) => customer_number)}
        />
      </Columns>
      <CustomerRecords customer={customer} counts={counts} />
      <TransferSection transfers={transfers} />
      <MoneyBackSection rows={moneyBack} timeZone={timeZone} namesPayments />
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
