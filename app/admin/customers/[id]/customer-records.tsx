import type { CustomerRow } from '@/lib/customers/schema';
import { addMoneyBack } from '@/lib/invoices/money-back';
import { listInvoices } from '@/lib/invoices/queries';
import type { RecordCounts } from '@/lib/overview/counts';
import { namePayments } from '@/lib/payments/list-for-staff';
import { listPayments } from '@/lib/payments/queries';
import { getRuntime } from '@/lib/runtime';
import { listOpenSalesDocuments } from '@/lib/sales-documents/queries';
import { listServices } from '@/lib/services/queries';
import { listSubscriptions } from '@/lib/subscriptions/queries';
import { TextLink } from '../../../_components/links';
import { toHref } from '../../../_components/search-params';
import { OwnDocumentList } from '../../_components/records/document-list';
import { OwnInvoiceList } from '../../_components/records/invoice-list';
import { OwnPaymentList } from '../../_components/records/payment-list';
import { OwnServiceList } from '../../_components/records/service-list';
import { OwnSubscriptionList } from '../../subscriptions/subscription-list';
import { RecordSection, ROWS } from './record-section';

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
  return <OwnInvoiceList invoices={shown} timeZone={env.timeZone} />;
}

async function OpenDocuments({ id }: { id: number }) {
  const { db } = await getRuntime();
  const page = await listOpenSalesDocuments(db, id);
  return <OwnDocumentList documents={page.data.slice(0, ROWS)} />;
}

async function Services({ id }: { id: number }) {
  const { db } = await getRuntime();
  const page = await listServices(db, { customer_id: id, per_page: ROWS });
  return <OwnServiceList services={page.data} />;
}

async function Subscriptions({ id }: { id: number }) {
  const { db, env } = await getRuntime();
  const page = await listSubscriptions(db, { customer: `#${id}` }, { limit: ROWS });
  return <OwnSubscriptionList subscriptions={page.data} timeZone={env.timeZone} />;
}

async function Payments({ id }: { id: number }) {
  const { db } = await getRuntime();
  const page = await listPayments(db, { customer_id: id, per_page: ROWS });
  return <OwnPaymentList payments={await namePayments(db, page.data)} />;
}
