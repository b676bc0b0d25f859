import type { WithMoneyBack } from '@/lib/invoices/money-back';
import type { BesidePayments, InvoiceDetails } from '@/lib/invoices/queries';
import { formatMoney } from '../../../_components/format';

/** Why an invoice without payments is paid; null if it is not paid. */
export function whyPaid(invoice: WithMoneyBack<InvoiceDetails>, beside: BesidePayments): string | null {
  const { status, total, currency, amount_credited, stripe_invoice_id } = invoice;
  if (status !== 'paid') return null;
  const told = (amount: number | null, text: string) =>
    amount ? [`${formatMoney(amount, currency)} ${text}.`] : [];
  const reasons = [
    ...told(beside.offStripe, 'was paid outside Stripe'),
    ...told(beside.fromBalance, 'was settled with the customer’s balance at Stripe'),
    ...told(beside.toBalance, 'was added to the customer’s balance at Stripe'),
    ...told(amount_credited, 'was credited'),
  ];
  if (reasons.length > 0) return reasons.join(' ');
  if (total <= 0) return 'Nothing had to be paid.';
  if (!stripe_invoice_id) return 'It came here as paid, without its payments.';
  return 'Stripe has not reported yet how it was paid. The nightly reconciliation asks.';
}
