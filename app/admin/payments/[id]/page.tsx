import { Group, SimpleGrid, Stack } from '@mantine/core';
import type { Metadata } from 'next';
import { notFound } from 'next/navigation';
import { listAudit } from '@/lib/audit/list-audit';
import { requireStaff } from '@/lib/auth/staff-session';
import { getPaymentContext } from '@/lib/payments/payment-context';
import { getPayment } from '@/lib/payments/queries';
import { getRuntime } from '@/lib/runtime';
import { formatDate, formatField, formatInstant, formatMoney } from '../../../_components/format';
import { TextLink } from '../../../_components/links';
import { orNotFound } from '../../../_components/or-not-found';
import { toId } from '../../../_components/search-params';
import { AuditTrail } from '../../_components/audit-trail';
import { Facts } from '../../_components/facts';
import { PageHeader } from '../../_components/page-header';
import { Section } from '../../_components/section';
import { StatusBadge } from '../../_components/status-badge';

export const metadata: Metadata = { title: 'Payment' };

export default async function PaymentPage({ params }: { params: Promise<{ id: string }> }) {
  await requireStaff();
  const id = toId((await params).id) ?? notFound();
  const { db, env } = await getRuntime();
  const payment = await orNotFound(getPayment(db, id));
  const { invoice, customer } = await orNotFound(getPaymentContext(db, payment));
  const audit = await listAudit(db, 'payment', id);
  const invoiceMoney = (amount: number) => formatMoney(amount, invoice.currency);
  return (
    <>
      <PageHeader
        back={{ href: '/admin/payments', label: 'Payments' }}
        title={
          <Group gap="sm" component="span">
            {formatMoney(payment.amount, payment.currency)}
            <StatusBadge status={payment.status} />
          </Group>
        }
        description={payment.payment_reference}
      />
      <Stack gap="xl">
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
          <Section title="Payment">
            <Facts
              facts={[
                ['ID', payment.id],
                ['Reference', payment.payment_reference],
                ['Amount', formatMoney(payment.amount, payment.currency)],
                ['Date', formatDate(payment.payment_date)],
                ['Status', formatField(payment.status)],
                ['Source', SOURCES[payment.source]],
                ['Created', formatInstant(payment.created_at, env.timeZone)],
                ['Updated', formatInstant(payment.updated_at, env.timeZone)],
              ]}
            />
          </Section>
          <Stack gap="lg">
            <Section title="Invoice" action={<PaymentsOf field="invoice_id" id={invoice.id} />}>
              <Facts
                facts={[
                  ['Number', invoice.number ?? `#${invoice.id}`],
                  ['Status', <StatusBadge key="status" status={invoice.status} />],
                  ['Total', invoiceMoney(invoice.total)],
                  ['Paid', invoiceMoney(invoice.amount_paid)],
                  ['Due', dueText(invoiceMoney(invoice.amount_due), invoice.due_date)],
                  [
                    'Managed by',
                    invoice.stripe_invoice_id ? `Stripe, ${invoice.stripe_invoice_id}` : 'This service',
                  ],
                ]}
              />
            </Section>
            <Section title="Customer" action={<PaymentsOf field="customer_id" id={customer.id} />}>
              <Facts
                facts={[
                  ['Name', customer.name || null],
                  ['Number', customer.customer_number],
                  ['E-mail', customer.email],
                  ['Status', <StatusBadge key="status" status={customer.status} />],
                ]}
              />
            </Section>
          </Stack>
        </SimpleGrid>
        <Section title="History">
          <AuditTrail entries={audit} timeZone={env.timeZone} />
        </Section>
      </Stack>
    </>
  );
}

const SOURCES = { api: 'Payments API', staff: 'Staff', stripe: 'Stripe', import: 'Import' };

function PaymentsOf({ field, id }: { field: 'invoice_id' | 'customer_id'; id: number }) {
  return <TextLink href={`/admin/payments?${field}=${id}`}>All payments</TextLink>;
}

function dueText(amount: string, dueDate: string | null): string {
  return dueDate ? `${amount}, by ${formatDate(dueDate)}` : amount;
}
