import { SimpleGrid, Stack } from '@mantine/core';
import { notFound } from 'next/navigation';
import { Suspense } from 'react';
import { listAudit } from '@/lib/audit/audit-log';
import { requireStaff } from '@/lib/auth/staff-session';
import { listLines } from '@/lib/invoices/lines';
import { addMoneyBack } from '@/lib/invoices/money-back';
import { getInvoice } from '@/lib/invoices/queries';
import { listUncounted } from '@/lib/payments/stripe-payment';
import { getRuntime } from '@/lib/runtime';
import { getLastCheck } from '@/lib/sync/staff/check-with-stripe';
import { TextLink } from '../../../_components/links';
import { orNotFound } from '../../../_components/or-not-found';
import { type SearchParams, toHref, toId, toParams } from '../../../_components/search-params';
import { History } from '../../_components/audit/audit-trail';
import { CheckNotice, LastCheckSection } from '../../_components/audit/check/check';
import { RecordTitle } from '../../_components/display/status';
import { LineSection } from '../../_components/forms/lines/line-section';
import { RecordNotice } from '../../_components/forms/record/record-notice';
import { ListSkeleton } from '../../_components/lists/list-skeleton';
import { PageHeader } from '../../_components/page/page-header';
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

interface Props {
  params: Promise<{ id: string }>;
  searchParams: Promise<SearchParams>;
}

export default async function InvoicePage({ params, searchParams }: Props) {
  await requireStaff();
  const id = toId((await params).id) ?? notFound();
  const search = toParams(await searchParams);
  const { db, env } = await getRuntime();
  const [invoice = notFound()] = await addMoneyBack(db, [await orNotFound(getInvoice(db, id))]);
  const [uncounted] = await listUncounted(db, { invoice_id: id });
  const lines = await listLines(db, 'invoice', id);
  const lastCheck = await getLastCheck(db, await listAudit(db, 'invoice', id));
  return (
    <>
      <PageHeader
        back={{ href: '/admin/invoices', label: 'Invoices' }}
        title={<RecordTitle status={invoice.status}>Invoice {invoiceName(invoice)}</RecordTitle>}
        description={invoice.customer.name || invoice.customer.customer_number}
        actions={<InvoiceActions invoice={invoice} mode={env.stripe.mode} />}
      />
      <CheckNotice outcome={search.get('check')} last={lastCheck} />
      <RecordNotice notice={search.get('notice')} done={DONE} />
      <RecordTasks entity="invoice" id={id} />
      <InvoiceNotices invoice={invoice} timeZone={env.timeZone} uncounted={uncounted?.amount ?? 0} />
      {isOwnDraft(invoice) && <TaxNotice customerId={invoice.customer.id} lines={lines} />}
      <Stack gap="xl">
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing="xl">
          <InvoiceFacts invoice={invoice} timeZone={env.timeZone} />
          <Stack gap="xl">
            <CustomerSection
              customer={invoice.customer}
              action={
                <TextLink href={toHref('/admin/invoices', { customer: invoice.customer.customer_number })}>
                  All invoices
                </TextLink>
              }
            />
            <OriginFacts invoice={invoice} timeZone={env.timeZone} />
          </Stack>
        </SimpleGrid>
        <LineSection lines={lines} currency={invoice.currency} />
        <LastCheckSection last={lastCheck} timeZone={env.timeZone} />
        {/* One boundary for all: a section that arrives later would move the others. */}
        <Suspense fallback={<ListSkeleton rows={1} />}>
          <InvoicePayments invoice={invoice} />
          <History entity="invoice" id={id} kept={null} />
        </Suspense>
      </Stack>
    </>
  );
}
