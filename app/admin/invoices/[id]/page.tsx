import { Group, SimpleGrid, Stack } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import type { Metadata } from 'next';
import { notFound } from 'next/navigation';
import { Suspense } from 'react';
import { listAudit } from '@/lib/audit/list-audit';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { getInvoice } from '@/lib/invoices/get-invoice';
import { listLines } from '@/lib/invoices/line-rows';
import { addMoneyBack } from '@/lib/invoices/money-back';
import { takesPayments } from '@/lib/payments/check-payment';
import { getRuntime } from '@/lib/runtime';
import { getLastCheck } from '@/lib/sync/staff/last-check';
import { LinkButton, TextLink } from '../../../_components/links';
import { orNotFound } from '../../../_components/or-not-found';
import { type SearchParams, toHref, toId, toParams } from '../../../_components/search-params';
import { CheckButton } from '../../_components/audit/check/check-button';
import { CheckNotice } from '../../_components/audit/check/check-notice';
import { LastCheckSection } from '../../_components/audit/check/last-check-section';
import { RecordTitle } from '../../_components/display/record-title';
import { LineSection } from '../../_components/forms/lines/line-section';
import { RecordNotice } from '../../_components/forms/record/record-notice';
import { ListSkeleton } from '../../_components/lists/list-skeleton';
import { PageHeader } from '../../_components/page/page-header';
import { CustomerSection } from '../../_components/records/customer-section';
import { invoiceName } from '../../_components/records/invoice-list';
import { RecordTasks } from '../../_components/records/record-tasks';
import { PATH } from '../path';
import { check } from './actions';
import { InvoiceActions } from './invoice-actions';
import { InvoiceFacts } from './invoice-facts';
import { InvoiceNotices } from './invoice-notices';
import { InvoicePayments } from './invoice-payments';
import { OriginFacts } from './origin-facts';
import { DONE } from './step-text';

export const metadata: Metadata = { title: 'Invoice' };

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
  const lastCheck = await getLastCheck(db, await listAudit(db, 'invoice', id));
  return (
    <>
      <PageHeader
        back={{ href: PATH, label: 'Invoices' }}
        title={<RecordTitle status={invoice.status}>Invoice {invoiceName(invoice)}</RecordTitle>}
        description={invoice.customer.name || invoice.customer.customer_number}
        actions={
          <Group gap="xs">
            {invoice.stripe_invoice_id && <CheckButton action={check.bind(null, id)} />}
            {invoice.stripe_invoice_id && (
              <LinkButton
                href={toHref('/admin/webhooks', { id: invoice.stripe_invoice_id })}
                variant="default"
              >
                Events
              </LinkButton>
            )}
            <InvoiceActions invoice={invoice} />
            {takesPayments(invoice) && (
              <LinkButton
                href={toHref('/admin/payments/new', { invoice: `#${id}` })}
                leftSection={<IconPlus size={16} aria-hidden />}
              >
                Record payment
              </LinkButton>
            )}
          </Group>
        }
      />
      <CheckNotice outcome={search.get('check')} last={lastCheck} />
      <RecordNotice notice={search.get('notice')} done={DONE} />
      <RecordTasks entity="invoice" id={id} />
      <InvoiceNotices invoice={invoice} timeZone={env.timeZone} />
      <Stack gap="xl">
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing="xl">
          <InvoiceFacts invoice={invoice} timeZone={env.timeZone} />
          <Stack gap="xl">
            <CustomerSection
              customer={invoice.customer}
              action={
                <TextLink href={toHref(PATH, { customer: invoice.customer.customer_number })}>
                  All invoices
                </TextLink>
              }
            />
            <OriginFacts invoice={invoice} timeZone={env.timeZone} />
          </Stack>
        </SimpleGrid>
        <LineSection lines={await listLines(db, 'invoice', id)} currency={invoice.currency} />
        <LastCheckSection last={lastCheck} timeZone={env.timeZone} />
        <Suspense fallback={<ListSkeleton rows={1} />}>
          <InvoicePayments invoice={invoice} />
        </Suspense>
      </Stack>
    </>
  );
}
