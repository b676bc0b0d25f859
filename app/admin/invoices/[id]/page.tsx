import { Group, SimpleGrid, Stack } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import type { Metadata } from 'next';
import { notFound } from 'next/navigation';
import { Suspense } from 'react';
import { requireStaff } from '@/lib/auth/staff-session';
import { getInvoice } from '@/lib/invoices/get-invoice';
import { takesPayments } from '@/lib/payments/check-payment';
import { getRuntime } from '@/lib/runtime';
import { LinkButton, TextLink } from '../../../_components/links';
import { orNotFound } from '../../../_components/or-not-found';
import { toHref, toId } from '../../../_components/search-params';
import { CustomerSection } from '../../_components/customer-section';
import { invoiceName } from '../../_components/invoice-list';
import { ListSkeleton } from '../../_components/list-skeleton';
import { PageHeader } from '../../_components/page-header';
import { RecordTitle } from '../../_components/record-title';
import { PATH } from '../path';
import { InvoiceFacts } from './invoice-facts';
import { InvoiceNotices } from './invoice-notices';
import { InvoicePayments } from './invoice-payments';
import { OriginFacts } from './origin-facts';

export const metadata: Metadata = { title: 'Invoice' };

export default async function InvoicePage({ params }: { params: Promise<{ id: string }> }) {
  await requireStaff();
  const id = toId((await params).id) ?? notFound();
  const { db, env } = await getRuntime();
  const invoice = await orNotFound(getInvoice(db, id));
  return (
    <>
      <PageHeader
        back={{ href: PATH, label: 'Invoices' }}
        title={<RecordTitle status={invoice.status}>Invoice {invoiceName(invoice)}</RecordTitle>}
        description={invoice.customer.name || invoice.customer.customer_number}
        actions={
          <Group gap="xs">
            {invoice.stripe_invoice_id && (
              <LinkButton
                href={toHref('/admin/webhooks', { id: invoice.stripe_invoice_id })}
                variant="default"
              >
                Events
              </LinkButton>
            )}
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
        <Suspense fallback={<ListSkeleton rows={1} />}>
          <InvoicePayments invoiceId={id} />
        </Suspense>
      </Stack>
    </>
  );
}
