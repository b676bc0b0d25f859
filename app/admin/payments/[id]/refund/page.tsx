import { Alert, Text } from '@mantine/core';
import { redirect } from 'next/navigation';
import { formatMoney, formatPlainAmount } from '@/app/_components/format';
import { TextLink } from '@/app/_components/links';
import { toCalendarDate } from '@/lib/dates';
import { etagOf } from '@/lib/http/messages';
import { takesCreditNotes } from '@/lib/invoices/credit-notes';
import { getPaymentContext } from '@/lib/payments/list';
import { getPayment } from '@/lib/payments/queries';
import { FormPage, orNotFound, recordPage, titleOfRow } from '../../../_components/page/staff-page';
import { invoiceName } from '../../../_components/records/invoice-list';
import { refund } from '../../actions';
import { RefundForm } from '../../payment-forms';

export const generateMetadata = titleOfRow(
  'Record a refund',
  getPayment,
  (one) => `Refund of ${one.payment_reference}`,
);

export default recordPage(getPayment, async (payment, { id, db, timeZone, runtime: { now } }) => {
  const page = `/admin/payments/${id}`;
  if (payment.status !== 'completed') redirect(page);
  const { amount, refunded_amount, currency, payment_reference } = payment;
  const { invoice } = await orNotFound(getPaymentContext(db, payment));
  const left = amount - refunded_amount;
  const version = etagOf(payment);
  const of = refunded_amount > 0 ? `${formatMoney(left, currency)} of ` : '';
  return (
    <FormPage
      back={{ href: page, label: 'Payment' }}
      title="Record a refund"
      description={`${payment_reference}: ${of}${formatMoney(amount, currency)} can be refunded`}
    >
      <Alert color="orange" variant="light" mb="lg" title="No money is moved">
        This only records money that you refunded elsewhere. Nothing is refunded at Stripe: use the Stripe
        dashboard for that, and the refund appears here automatically.
      </Alert>
      {takesCreditNotes(invoice) && invoice.total > invoice.amount_credited && (
        <Text size="sm" mb="lg">
          A refund alone leaves the invoice unpaid. If the customer no longer owes the amount,{' '}
          <TextLink href={`/admin/invoices/${invoice.id}/credit`}>issue a credit note</TextLink> as well.
        </Text>
      )}
      <RefundForm
        version={version}
        action={refund.bind(null, id, version)}
        cancel={page}
        currency={currency}
        invoice={{ ...invoice, name: invoiceName(invoice), isManaged: invoice.stripe_invoice_id !== null }}
        submit="Record refund"
        typed={{ amount: formatPlainAmount(left, currency), date: toCalendarDate(now(), timeZone) }}
      />
    </FormPage>
  );
});
