import { Stack } from '@mantine/core';
import { notFound } from 'next/navigation';
import { Suspense } from 'react';
import { listAudit } from '@/lib/audit/audit-log';
import { listLines } from '@/lib/invoices/lines';
import { addMoneyBack } from '@/lib/invoices/money-back';
import { getInvoice } from '@/lib/invoices/queries';
import { listUncounted } from '@/lib/payments/stripe-payment';
import { getLastCheck } from '@/lib/sync/staff/check-with-stripe';
import { formatCustomer } from '../../../_components/format';
import { orNotFound } from '../../../_components/or-not-found';
import { History } from '../../_components/audit/audit-trail';
import { CheckNotice, LastCheckSection } from '../../_components/audit/check/check';
import { RecordTitle } from '../../_components/display/status';
import { LineSection } from '../../_components/forms/lines/line-section';
import { RecordNotice } from '../../_components/forms/record/record-notice';
import { ListSkeleton } from '../../_components/lists/list-skeleton';
import { Columns, Page } from '../../_components/page/page-header';
import { rowIdIn, staffPage } from '../../_components/page/staff-page';
import { titleOfRow } from '../../_components/page/title-of';
import { CustomerSection } from '../../_components/records/customer-link';
import { invoiceName } from '../../_components/records/invoice-list';
import { RecordTasks } from '../../_components/records/record-tasks';
import { TaxNotice } from '../../_components/records/tax-notice';
import { isOwnDraft } from '../form-parts';
import { DONE, InvoiceActions, InvoiceFacts, InvoiceNotices, OriginFacts } from './invoice-parts';
import { InvoicePayments } from './invoice-payments';

export const generateMetadata = titleOfRow(
  'Invoice',
  async (db, id) => `Invoice ${invoiceName(await getInvoice(db, id))}`,
);

export default staffPage<{ id: string }>(async ({ params, runtime: { db, env }, search }) => {
  const id = rowIdIn(params);
  const { timeZone } = env;
  const [invoice = notFound()] = await addMoneyBack(db, [await orNotFound(getInvoice(db, id))]);
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
          <RecordNotice notice={search.get('notice')} done={DONE} />
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
      <LineSection lines={lines} currency={invoice.currency} />
      <LastCheckSection last={lastCheck} timeZone={timeZone} />
      {/* One boundary for all sections, since a section that arrives later would move the others. */}
      <Suspense fallback={<ListSkeleton rows={1} />}>
        <InvoicePayments invoice={invoice} />
        <History entity="invoice" id={id} kept={null} />
      </Suspense>
    </Page>
  );
});
