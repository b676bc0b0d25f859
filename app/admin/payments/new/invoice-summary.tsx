import { Alert, Group, Stack } from '@mantine/core';
import type { PaymentContext } from '@/lib/payments/list-for-staff';
import { formatDate, formatMoney } from '../../../_components/format';
import { TextLink } from '../../../_components/links';
import { Facts } from '../../_components/display/facts';
import { StatusBadge } from '../../_components/display/status-badge';
import { Section } from '../../_components/page/section';
import { invoiceName } from '../../_components/records/invoice-list';

/** What will be paid, and by whom. */
export function InvoiceSummary({ invoice, customer }: PaymentContext) {
  const money = (amount: number) => formatMoney(amount, invoice.currency);
  return (
    <Stack gap="md" mb="xl">
      <Section title="Invoice" action={<TextLink href="/admin/payments/new">Another invoice</TextLink>}>
        <Facts
          facts={{
            Number: (
              <Group gap="xs">
                {invoiceName(invoice)}
                <StatusBadge status={invoice.status} />
              </Group>
            ),
            Customer: [customer.name, customer.customer_number].filter(Boolean).join(', '),
            Total: money(invoice.total),
            Open: money(invoice.amount_due),
            Due: invoice.due_date && formatDate(invoice.due_date),
          }}
        />
      </Section>
      {invoice.stripe_invoice_id && (
        <Alert color="orange" variant="light" title="Stripe manages this invoice">
          The payment is kept here but does not settle the invoice, whose amounts and status come only from
          Stripe. If it was paid another way, mark it as paid there.
        </Alert>
      )}
    </Stack>
  );
}
