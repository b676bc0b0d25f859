import type { WithMoneyBack } from '@/lib/invoices/money-back';
import type { InvoiceDetails } from '@/lib/invoices/queries';
import { besidePayments } from '@/lib/invoices/queries';
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
  const moneyIfAny = (amount: number) => (amount > 0 ? money(amount) : undefined);
  const beside = besidePayments(invoice);
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
          'Paid outside Stripe': moneyIfAny(beside.offStripe ?? 0),
          Refunded: moneyIfAny(invoice.refunded_amount),
          Credited: moneyIfAny(invoice.amount_credited),
          'Settled with the balance at Stripe': moneyIfAny(beside.fromBalance),
          'Added to the balance at Stripe': moneyIfAny(beside.toBalance),
          'Earlier debt at Stripe, collected with it': moneyIfAny(beside.earlierDebt),
          'Earlier balance or overpaid at Stripe': moneyIfAny(beside.beyondTotal),
          Open: money(invoice.amount_due),
          'Written off': moneyIfAny(beside.writtenOff),
          'Credit (overpaid)': moneyIfAny(beside.overpaid),
        }}
      />
    </Section>
  );
}
