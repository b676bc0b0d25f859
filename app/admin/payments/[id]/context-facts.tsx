import { Group, Stack } from '@mantine/core';
import type { PaymentContext } from '@/lib/payments/list-for-staff';
import { takesPayments } from '@/lib/payments/lock-payment';
import { formatDate, formatMoney } from '../../../_components/format';
import { TextLink } from '../../../_components/links';
import { toHref } from '../../../_components/search-params';
import { Facts } from '../../_components/display/facts';
import { StatusBadge } from '../../_components/display/status-badge';
import { StripeId } from '../../_components/display/stripe-id';
import { Section } from '../../_components/page/section';
import { CustomerSection } from '../../_components/records/customer-section';
import { InvoiceLink } from '../../_components/records/invoice-link';

/** The invoice and the customer of a payment. */
export function ContextFacts({ invoice, customer }: PaymentContext) {
  const money = (amount: number) => formatMoney(amount, invoice.currency);
  return (
    <Stack gap="lg">
      <Section
        title="Invoice"
        action={
          <Group gap="md">
            {takesPayments(invoice) && (
              <TextLink href={toHref('/admin/payments/new', { invoice: `#${invoice.id}` })}>
                Record payment
              </TextLink>
            )}
            <TextLink href={toHref('/admin/payments', { invoice: `#${invoice.id}` })}>All payments</TextLink>
          </Group>
        }
      >
        <Facts
          facts={{
            Number: <InvoiceLink invoice={invoice} />,
            Status: <StatusBadge status={invoice.status} />,
            Total: money(invoice.total),
            Paid: money(invoice.amount_paid),
            Due: dueText(money(invoice.amount_due), invoice.due_date),
            Managed: invoice.stripe_invoice_id ? (
              <>
                by Stripe, <StripeId id={invoice.stripe_invoice_id} />
              </>
            ) : (
              'here'
            ),
          }}
        />
      </Section>
      <CustomerSection
        customer={customer}
        action={
          <TextLink href={toHref('/admin/payments', { customer: customer.customer_number })}>
            All payments
          </TextLink>
        }
      />
    </Stack>
  );
}

function dueText(amount: string, dueDate: string | null): string {
  return dueDate ? `${amount}, by ${formatDate(dueDate)}` : amount;
}
