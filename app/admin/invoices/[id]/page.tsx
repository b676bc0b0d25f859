import { Box, Stack, Text } from '@mantine/core';
import { notFound } from 'next/navigation';
import { Suspense } from 'react';
import { formatCustomer, formatMoney } from '@/app/_components/format';
import { TextLink } from '@/app/_components/links';
import { toHref } from '@/app/_components/search-params';
import { listAudit } from '@/lib/audit/audit-log';
import { describeCreditNotes, describeDocument } from '@/lib/documents/invoice-document';
import { listCreditNotes } from '@/lib/invoices/credit-notes';
import { listLines, listStripeLines } from '@/lib/invoices/lines';
import { addMoneyBack, type WithMoneyBack } from '@/lib/invoices/money-back';
import { type BesidePayments, besidePayments, getInvoice, type InvoiceDetails } from '@/lib/invoices/queries';
import { paymentList } from '@/lib/payments/list';
import { listMoneyBack, ofInvoice } from '@/lib/payments/money-back';
import { type DeletedPayment, listDeletedPayments } from '@/lib/payments/queries';
import { listUncounted } from '@/lib/payments/stripe-payment';
import { getRuntime } from '@/lib/runtime';
import { getLastCheck } from '@/lib/sync/staff/check-with-stripe';
import { History } from '../../_components/audit/audit-trail';
import { CheckNotice, LastCheckSection } from '../../_components/audit/check/check';
import { Instant, RecordTitle } from '../../_components/display/values';
import { LineSection, StripeLineSection } from '../../_components/forms/lines/line-section';
import { RecordNotice } from '../../_components/forms/record/record-notice';
import { ListSkeleton } from '../../_components/lists/paged-list';
import { Columns, EmptyText, Page, recordPage, Section, titleOfRow } from '../../_components/page/staff-page';
import { CustomerSection } from '../../_components/records/customer-link';
import { invoiceName } from '../../_components/records/invoice-list';
import { MoneyBackSection } from '../../_components/records/money-back/money-back-list';
import { PaymentList } from '../../_components/records/payment-list';
import { RecordTasks, TaxNotice } from '../../_components/records/record-alerts';
import { isOwnDraft } from '../form-parts';
import {
  CreditNoteSection,
  CreditSection,
  DONE,
  DocumentSection,
  InvoiceActions,
  InvoiceFacts,
  InvoiceNotices,
  OriginFacts,
} from './invoice-parts';

export const generateMetadata = titleOfRow('Invoice', getInvoice, (one) => `Invoice ${invoiceName(one)}`);

export default recordPage(
  getInvoice,
  async (row, { id, staff, runtime: { env }, db, timeZone, search, notice }) => {
    const [invoice = notFound()] = await addMoneyBack(db, [row]);
    const { customer } = invoice;
    const [uncounted] = await listUncounted(db, { invoice_id: id });
    const lines = await listLines(db, 'invoice', id);
    const lastCheck = await getLastCheck(db, await listAudit(db, 'invoice', id));
    return (
      <Page
        back={{ href: '/admin/invoices', label: 'Invoices' }}
        title={<RecordTitle status={invoice.status}>Invoice {invoiceName(invoice)}</RecordTitle>}
        description={formatCustomer(customer)}
        actions={<InvoiceActions invoice={invoice} mode={env.stripe.mode} />}
        notice={
          <>
            <CheckNotice outcome={search.get('check')} last={lastCheck} />
            <RecordNotice notice={notice} done={DONE} />
            <RecordTasks entity="invoice" id={id} />
            <InvoiceNotices invoice={invoice} timeZone={timeZone} uncounted={uncounted?.amount ?? 0} />
            {isOwnDraft(invoice) && <TaxNotice customerId={customer.id} lines={lines} />}
          </>
        }
      >
        <Columns>
          <InvoiceFacts invoice={invoice} timeZone={timeZone} />
          <Stack gap="xl">
            <CustomerSection customer={customer} all={{ path: '/admin/invoices', label: 'All invoices' }} />
            <OriginFacts invoice={invoice} timeZone={timeZone} />
          </Stack>
        </Columns>
        <CreditSection invoice={invoice} />
        {invoice.stripe_invoice_id === null ? (
          <LineSection lines={lines} currency={invoice.currency} />
        ) : (
          <StripeLineSection invoice={invoice} lines={await listStripeLines(db, id)} timeZone={timeZone} />
        )}
        <DocumentSection
          invoice={invoice}
          state={await describeDocument(db, id)}
          isAdmin={staff.role === 'admin'}
        />
        <CreditNoteSection notes={await describeCreditNotes(db, await listCreditNotes(db, id))} />
        <LastCheckSection last={lastCheck} timeZone={timeZone} />
        {/* These sections share one Suspense boundary, because a section that arrives later would move the others. */}
        <Suspense fallback={<ListSkeleton rows={1} />}>
          <InvoicePayments invoice={invoice} />
          <History entity="invoice" id={id} kept={null} />
        </Suspense>
      </Page>
    );
  },
);

const MAX_ROWS = 100;

/** Shows the latest payments and the deleted payments of an invoice, and its refunds and disputes. */
async function InvoicePayments({ invoice }: { invoice: WithMoneyBack<InvoiceDetails> }) {
  const { db, env } = await getRuntime();
  const { id, customer } = invoice;
  const filter = { invoice: `#${id}` };
  const page = await paymentList.page(db, filter);
  const moneyBack = await listMoneyBack(db, ofInvoice(id), MAX_ROWS);
  const deleted = await listDeletedPayments(db, { id, customer_id: customer.id });
  const none = whyPaid(invoice, besidePayments(invoice)) ?? (deleted.length > 0 ? 'None left.' : 'None yet.');
  const all = <TextLink href={toHref('/admin/payments', filter)}>All payments</TextLink>;
  return (
    <Stack gap="xl">
      <Section title="Payments" action={page.next && all}>
        {page.data.length > 0 ? <PaymentList rows={page.data} /> : <EmptyText>{none}</EmptyText>}
        <DeletedPayments deleted={deleted} timeZone={env.timeZone} />
      </Section>
      <MoneyBackSection rows={moneyBack} timeZone={env.timeZone} namesPayments />
    </Stack>
  );
}

/** Explains why an invoice is paid although it has no payments. Returns null if the invoice is not paid. */
function whyPaid(invoice: WithMoneyBack<InvoiceDetails>, beside: BesidePayments): string | null {
  const { status, total, currency, amount_credited, stripe_invoice_id } = invoice;
  if (status !== 'paid') return null;
  const reasonFor = (amount: number | null, text: string) =>
    amount ? [`${formatMoney(amount, currency)} ${text}.`] : [];
  const reasons = [
    ...reasonFor(beside.offStripe, 'was paid outside Stripe'),
    ...reasonFor(beside.fromBalance, 'was settled with the customer’s balance at Stripe'),
    ...reasonFor(beside.toBalance, 'was added to the customer’s balance at Stripe'),
    ...reasonFor(amount_credited, 'was credited'),
  ];
  if (reasons.length > 0) return reasons.join(' ');
  if (total <= 0) return 'Nothing had to be paid.';
  if (!stripe_invoice_id) return 'It was imported as paid, without its payments.';
  return 'Stripe has not yet reported how it was paid. The nightly reconciliation checks it.';
}

/** Lists the deleted payments of an invoice, and who deleted each. Shows nothing if there are none. */
function DeletedPayments({ deleted, timeZone }: { deleted: DeletedPayment[]; timeZone: string }) {
  if (deleted.length === 0) return null;
  return (
    <Box p="md">
      {deleted.map(({ payment, deleted_by, deleted_at }) => (
        <Text key={payment.id} size="sm" c="dimmed" className="break-anywhere">
          <TextLink href={`/admin/payments/${payment.id}`}>
            {formatMoney(payment.amount, payment.currency)}, {payment.payment_reference}
          </TextLink>{' '}
          was deleted by {deleted_by} on <Instant at={deleted_at} timeZone={timeZone} />.
        </Text>
      ))}
    </Box>
  );
}
