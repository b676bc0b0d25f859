import { Group, Stack } from '@mantine/core';
import { redirect } from 'next/navigation';
import { type ReactNode, Suspense } from 'react';
import { formatCustomer, formatNumber, joinTexts } from '@/app/_components/format';
import { TextLink } from '@/app/_components/links';
import { toHref } from '@/app/_components/search-params';
import { listMergedInto } from '@/lib/customers/merged-customers';
import { findErasedAt } from '@/lib/customers/queries';
import { customerKind } from '@/lib/customers/save-customers';
import type { CustomerRow } from '@/lib/customers/schema';
import { listBalances, listCustomerCredits } from '@/lib/invoices/customer-balances';
import { listInvoices } from '@/lib/invoices/list';
import { addMoneyBack } from '@/lib/invoices/money-back';
import { sumUnpaidInvoices } from '@/lib/invoices/queries';
import { countRecords, MAX_RECORDS, type RecordCounts } from '@/lib/overview/counts';
import { namePayments } from '@/lib/payments/list';
import { listMoneyBack, ofCustomer } from '@/lib/payments/money-back';
import { listPayments, listTransferCredits, listTransfers } from '@/lib/payments/queries';
import { listUncounted } from '@/lib/payments/stripe-payment';
import { readState } from '@/lib/records/steps';
import { getRuntime, type Runtime } from '@/lib/runtime';
import { listOpenSalesDocuments } from '@/lib/sales-documents/queries';
import { listServices } from '@/lib/services/queries';
import { subscriptionList } from '@/lib/subscriptions/list';
import { listStripeCustomersOf } from '@/lib/sync/staff/stripe-customers';
import { History } from '../../_components/audit/audit-trail';
import { RecordTitle } from '../../_components/display/values';
import { RecordNotice } from '../../_components/forms/record/record-notice';
import { ListSkeleton } from '../../_components/lists/paged-list';
import {
  Columns,
  orNotFound,
  Page,
  recordPage,
  Section,
  titleOfRow,
} from '../../_components/page/staff-page';
import { CustomerFacts } from '../../_components/records/customer-facts';
import { DocumentList } from '../../_components/records/document-list';
import { InvoiceList } from '../../_components/records/invoice-list';
import { MoneyBackSection } from '../../_components/records/money-back/money-back-list';
import { PaymentList } from '../../_components/records/payment-list';
import { RecordTasks } from '../../_components/records/record-alerts';
import { ServiceList } from '../../_components/records/service-list';
import { SubscriptionList } from '../../subscriptions/subscription-list';
import { readCustomer } from '../form-parts';
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
import { Timeline } from './timeline';

export const generateMetadata = titleOfRow('Customer', readCustomer, formatCustomer);

/** Shows a customer. The URL of a merged customer redirects to the customer that it was merged into. */
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

/** Maximum number of refunds and disputes, and of rows in each of the `SECTIONS`. */
const ROWS = 10;

interface RecordsOf {
  title: string;
  path: string;
  /** Plural of the record's name, for the link to all records. */
  nouns: string;
  /** Singular of the record's name, for the link to the form for a new record. Absent if there is no such link. */
  noun?: string;
  none: string;
  /** Whether the section is always open. All other sections start collapsed. */
  open?: boolean;
  count(counts: RecordCounts): number;
  /** Returns the number of records in all states. If absent, the link to all records shows no number. */
  total?(counts: RecordCounts): number;
  show(id: number, runtime: Runtime): Promise<ReactNode>;
}

const SECTIONS: RecordsOf[] = [
  {
    title: 'Unpaid invoices',
    path: '/admin/invoices',
    nouns: 'invoices',
    noun: 'invoice',
    none: 'None.',
    open: true,
    count: ({ overdue, sent }) => overdue + sent,
    total: ({ invoices }) => invoices,
    async show(id, { db, env }) {
      const pages = await Promise.all(
        (['overdue', 'sent'] as const).map((status) =>
          listInvoices(db, { customer_id: id, status, per_page: ROWS }),
        ),
      );
      const rows = pages.flatMap(({ data }) => data).slice(0, ROWS);
      return <InvoiceList isOwn rows={await addMoneyBack(db, rows)} timeZone={env.timeZone} />;
    },
  },
  {
    title: 'Open sales documents',
    path: '/admin/sales-documents',
    nouns: 'sales documents',
    noun: 'offer',
    none: 'No open offers or order confirmations.',
    count: ({ open_documents }) => open_documents,
    async show(id, { db }) {
      const page = await listOpenSalesDocuments(db, id);
      return <DocumentList isOwn rows={page.data.slice(0, ROWS)} />;
    },
  },
  {
    title: 'Services',
    path: '/admin/services',
    nouns: 'services',
    noun: 'service',
    none: 'None.',
    open: true,
    count: ({ services }) => services,
    total: ({ services }) => services,
    async show(id, { db }) {
      const page = await listServices(db, { customer_id: id, per_page: ROWS });
      return <ServiceList isOwn rows={page.data} />;
    },
  },
  {
    title: 'Subscriptions',
    path: '/admin/subscriptions',
    nouns: 'subscriptions',
    none: 'None.',
    count: ({ subscriptions }) => subscriptions,
    total: ({ subscriptions }) => subscriptions,
    async show(id, { db, env }) {
      const page = await subscriptionList.page(db, { customer: `#${id}` }, {}, ROWS);
      return <SubscriptionList isOwn rows={page.data} timeZone={env.timeZone} />;
    },
  },
  {
    title: 'Latest payments',
    path: '/admin/payments',
    nouns: 'payments',
    none: 'None yet.',
    count: ({ payments }) => payments,
    total: ({ payments }) => payments,
    async show(id, { db }) {
      const page = await listPayments(db, { customer_id: id, per_page: ROWS });
      return <PaymentList isOwn rows={await namePayments(db, page.data)} />;
    },
  },
];

interface Props {
  customer: CustomerRow;
  counts: RecordCounts;
}

/** Shows a customer's first records of each kind. While they load, a placeholder reserves the same space. */
function CustomerRecords({ customer: { id, customer_number }, counts }: Props) {
  return SECTIONS.map(({ title, path, nouns, noun, none, open, show, ...kind }) => {
    const shown = Math.min(kind.count(counts), ROWS);
    const total = kind.total?.(counts);
    const number = total && total > shown && total <= MAX_RECORDS ? ` (${formatNumber(total)})` : '';
    const linkTo = (page: string, text: string) => (
      <TextLink href={toHref(page, { customer: customer_number })}>{text}</TextLink>
    );
    return (
      <Section
        key={title}
        title={title}
        folds={!open}
        action={
          <Group gap="md">
            {noun && linkTo(`${path}/new`, `New ${noun}`)}
            {total !== 0 && linkTo(path, `All ${nouns}${number}`)}
          </Group>
        }
        none={shown === 0 && none}
      >
        <Suspense fallback={<ListSkeleton rows={shown} headed framed={false} />}>
          <Shown show={show} id={id} />
        </Suspense>
      </Section>
    );
  });
}

async function Shown({ show, id }: Pick<RecordsOf, 'show'> & { id: number }) {
  return show(id, await getRuntime());
}
