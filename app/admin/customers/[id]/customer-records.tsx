import { Group } from '@mantine/core';
import { type ReactNode, Suspense } from 'react';
import { formatNumber } from '@/app/_components/format';
import { TextLink } from '@/app/_components/links';
import { toHref } from '@/app/_components/search-params';
import { ListSkeleton } from '@/app/admin/_components/lists/list-skeleton';
import { EmptyText, Section } from '@/app/admin/_components/page/section';
import { DocumentList } from '@/app/admin/_components/records/document-list';
import { InvoiceList } from '@/app/admin/_components/records/invoice-list';
import { PaymentList } from '@/app/admin/_components/records/payment-list';
import { ServiceList } from '@/app/admin/_components/records/service-list';
import { SubscriptionList } from '@/app/admin/subscriptions/subscription-list';
import type { CustomerRow } from '@/lib/customers/schema';
import { listInvoices } from '@/lib/invoices/list';
import { addMoneyBack } from '@/lib/invoices/money-back';
import { MAX_RECORDS, type RecordCounts } from '@/lib/overview/counts';
import { namePayments } from '@/lib/payments/list';
import { listPayments } from '@/lib/payments/queries';
import { getRuntime } from '@/lib/runtime';
import { listOpenSalesDocuments } from '@/lib/sales-documents/list';
import { listServices } from '@/lib/services/list';
import { subscriptionList } from '@/lib/subscriptions/list';

interface Props {
  customer: CustomerRow;
  counts: RecordCounts;
}

/** What a customer has, the first of each; lists come as they are read, into places of their size. */
export function CustomerRecords({ customer, counts }: Props) {
  const of = { customer_number: customer.customer_number };
  return (
    <>
      <RecordSection
        title="Unpaid invoices"
        open
        none="None."
        count={counts.overdue + counts.sent}
        all={{ ...of, path: '/admin/invoices', total: counts.invoices, noun: 'invoices' }}
        add={<NewOf {...of} path="/admin/invoices" noun="invoice" />}
      >
        <UnpaidInvoices id={customer.id} />
      </RecordSection>
      <RecordSection
        title="Open sales documents"
        none="No open offers or order confirmations."
        count={counts.open_documents}
        all={{ ...of, path: '/admin/sales-documents', noun: 'sales documents' }}
        add={<NewOf {...of} path="/admin/sales-documents" noun="offer" />}
      >
        <OpenDocuments id={customer.id} />
      </RecordSection>
      <RecordSection
        title="Services"
        open
        none="None."
        count={counts.services}
        all={{ ...of, path: '/admin/services', total: counts.services, noun: 'services' }}
        add={<NewOf {...of} path="/admin/services" noun="service" />}
      >
        <Services id={customer.id} />
      </RecordSection>
      <RecordSection
        title="Subscriptions"
        none="None."
        count={counts.subscriptions}
        all={{ ...of, path: '/admin/subscriptions', total: counts.subscriptions, noun: 'subscriptions' }}
      >
        <Subscriptions id={customer.id} />
      </RecordSection>
      <RecordSection
        title="Latest payments"
        none="None yet."
        count={counts.payments}
        all={{ ...of, path: '/admin/payments', total: counts.payments, noun: 'payments' }}
      >
        <Payments id={customer.id} />
      </RecordSection>
    </>
  );
}

function NewOf({ path, noun, customer_number }: { path: string; noun: string; customer_number: string }) {
  return (
    <TextLink href={toHref(`${path}/new`, { customer: customer_number })} prefetch={false}>
      New {noun}
    </TextLink>
  );
}

/** Overdue ones first. */
async function UnpaidInvoices({ id }: { id: number }) {
  const { db, env } = await getRuntime();
  const pages = await Promise.all(
    (['overdue', 'sent'] as const).map((status) =>
      listInvoices(db, { customer_id: id, status, per_page: ROWS }),
    ),
  );
  const rows = pages.flatMap(({ data }) => data);
  const shown = await addMoneyBack(db, rows.slice(0, ROWS));
  return <InvoiceList isOwn invoices={shown} timeZone={env.timeZone} />;
}

async function OpenDocuments({ id }: { id: number }) {
  const { db } = await getRuntime();
  const page = await listOpenSalesDocuments(db, id);
  return <DocumentList isOwn documents={page.data.slice(0, ROWS)} />;
}

async function Services({ id }: { id: number }) {
  const { db } = await getRuntime();
  const page = await listServices(db, { customer_id: id, per_page: ROWS });
  return <ServiceList isOwn services={page.data} />;
}

async function Subscriptions({ id }: { id: number }) {
  const { db, env } = await getRuntime();
  const page = await subscriptionList.page(db, { customer: `#${id}` }, {}, ROWS);
  return <SubscriptionList isOwn subscriptions={page.data} timeZone={env.timeZone} />;
}

async function Payments({ id }: { id: number }) {
  const { db } = await getRuntime();
  const page = await listPayments(db, { customer_id: id, per_page: ROWS });
  return <PaymentList isOwn payments={await namePayments(db, page.data)} />;
}

/** Of each kind of record so many are shown. */
export const ROWS = 10;

interface SectionProps {
  title: string;
  /** What stands there where it has none. */
  none: string;
  count: number;
  /** Shown at once, and not only when it is unfolded. */
  open?: boolean;
  /** The filtered list that has all of them. */
  all: { path: string; customer_number: string; total?: number; noun: string };
  /** Leads to what makes one more. */
  add?: ReactNode;
  children: ReactNode;
}

/** Some records of a customer; until they are read, a place of the same size. */
function RecordSection({ title, none, count, open = false, all, add, children }: SectionProps) {
  return (
    <Section
      title={title}
      folds={!open}
      action={
        <Group gap="md">
          {add}
          {all.total !== 0 && <AllLink {...all} shown={Math.min(count, ROWS)} />}
        </Group>
      }
    >
      {count > 0 ? (
        <Suspense fallback={<ListSkeleton rows={Math.min(count, ROWS)} headed framed={false} />}>
          {children}
        </Suspense>
      ) : (
        <EmptyText>{none}</EmptyText>
      )}
    </Section>
  );
}

function AllLink({ path, customer_number, total, noun, shown }: SectionProps['all'] & { shown: number }) {
  const number =
    total === undefined || total <= shown || total > MAX_RECORDS ? '' : ` (${formatNumber(total)})`;
  return (
    <TextLink href={toHref(path, { customer: customer_number })} prefetch={false}>
      All {noun}
      {number}
    </TextLink>
  );
}
