import { Box, Stack, Text } from '@mantine/core';
import { formatMoney } from '@/app/_components/format';
import { Instant } from '@/app/admin/_components/display/values';
import type { WithMoneyBack } from '@/lib/invoices/money-back';
import { type BesidePayments, besidePayments, type InvoiceDetails } from '@/lib/invoices/queries';
import { paymentList } from '@/lib/payments/list';
import { listMoneyBack, ofInvoice } from '@/lib/payments/money-back';
import { type DeletedPayment, listDeletedPayments } from '@/lib/payments/queries';
import { getRuntime } from '@/lib/runtime';
import { TextLink } from '../../../_components/links';
import { toHref } from '../../../_components/search-params';
import { EmptyText, Section } from '../../_components/page/section';
import { MoneyBackSection } from '../../_components/records/money-back/money-back-list';
import { PaymentList } from '../../_components/records/payment-list';

const MAX_ROWS = 100;

/** The latest payments of an invoice with their refunds and disputes. */
export async function InvoicePayments({ invoice }: { invoice: WithMoneyBack<InvoiceDetails> }) {
  const { db, env } = await getRuntime();
  const { id, customer } = invoice;
  const filter = { invoice: `#${id}` };
  const page = await paymentList.page(db, filter);
  const moneyBack = await listMoneyBack(db, ofInvoice(id), MAX_ROWS);
  const deleted = await listDeletedPayments(db, { id, customer_id: customer.id });
  const none = whyPaid(invoice, besidePayments(invoice)) ?? (deleted.length > 0 ? 'None left.' : 'None yet.');
  const all = <TextLink href={toHref('/admin/payments', filter)}>All payments</TextLink>;
  return (
    <Stack gap="xl">
      <Section title="Payments" action={page.next && all}>
        {page.data.length > 0 ? <PaymentList payments={page.data} /> : <EmptyText>{none}</EmptyText>}
        <DeletedPayments deleted={deleted} timeZone={env.timeZone} />
      </Section>
      <MoneyBackSection rows={moneyBack} timeZone={env.timeZone} namesPayments />
    </Stack>
  );
}

/** Returns the reason why an invoice without payments is paid. Null if it is not paid. */
function whyPaid(invoice: WithMoneyBack<InvoiceDetails>, beside: BesidePayments): string | null {
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

/** A notice of the deleted payments of an invoice. */
function DeletedPayments({ deleted, timeZone }: { deleted: DeletedPayment[]; timeZone: string }) {
  if (deleted.length === 0) return null;
  return (
    <Box p="md">
      {deleted.map(({ payment, deleted_by, deleted_at }) => (
        <Text key={payment.id} size="sm" c="dimmed" className="break-anywhere">
          <TextLink href={`/admin/payments/${payment.id}`}>
            {formatMoney(payment.amount, payment.currency)}, {payment.payment_reference}
          </TextLink>{' '}
          was deleted by {deleted_by} on <Instant at={deleted_at} timeZone={timeZone} />.
        </Text>
      ))}
    </Box>
  );
}
