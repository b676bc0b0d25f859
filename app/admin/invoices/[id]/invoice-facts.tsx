import type { InvoiceDetails } from '@/lib/invoices/get-invoice';
import type { WithMoneyBack } from '@/lib/invoices/money-back';
import { formatDate } from '../../../_components/format';
import { Facts } from '../../_components/display/facts';
import { Instant } from '../../_components/display/instant';
import { Money } from '../../_components/display/money';
import { Section } from '../../_components/page/section';

interface Props {
  invoice: WithMoneyBack<InvoiceDetails>;
  timeZone: string;
}

/** What is owed, by when, and what came in. */
export function InvoiceFacts({ invoice, timeZone }: Props) {
  const money = (amount: number) => <Money amount={amount} currency={invoice.currency} />;
  const overpaid = invoice.amount_paid - invoice.total;
  return (
    <Section title="Invoice">
      <Facts
        facts={{
          Number: invoice.number ?? 'None yet',
          Date: formatDate(invoice.invoice_date),
          Due: invoice.due_date && formatDate(invoice.due_date),
          Subtotal: money(invoice.subtotal),
          Tax: money(invoice.tax),
          Total: money(invoice.total),
          Paid: money(invoice.amount_paid),
          'Paid on': invoice.paid_at ? <Instant at={invoice.paid_at} timeZone={timeZone} /> : undefined,
          'Paid outside Stripe': invoice.amount_off_stripe ? money(invoice.amount_off_stripe) : undefined,
          Refunded: invoice.refunded_amount > 0 ? money(invoice.refunded_amount) : undefined,
          Credited: invoice.amount_credited > 0 ? money(invoice.amount_credited) : undefined,
          Open: money(invoice.amount_due),
          'Credit (overpaid)': overpaid > 0 ? money(overpaid) : undefined,
        }}
      />
    </Section>
  );
}
