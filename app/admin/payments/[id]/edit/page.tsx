import { redirect } from 'next/navigation';
import { formatMoney, formatPlainAmount } from '@/app/_components/format';
import { etagOf } from '@/lib/http/messages';
import { getPaymentContext } from '@/lib/payments/list';
import { findTransferId, getPayment } from '@/lib/payments/queries';
import { isCorrectable } from '@/lib/payments/typed-payment';
import { FormPage, orNotFound, recordPage, titleOfRow } from '../../../_components/page/staff-page';
import { invoiceName } from '../../../_components/records/invoice-list';
import { edit } from '../../actions';
import { PaymentForm } from '../../payment-forms';

export const generateMetadata = titleOfRow(
  'Correct a payment',
  getPayment,
  (one) => `Correct payment ${one.payment_reference}`,
);

/** Shows the form that corrects a payment. A payment that Stripe reported cannot be corrected here. */
export default recordPage(getPayment, async (payment, { id, db }) => {
  const page = `/admin/payments/${id}`;
  if (!isCorrectable(payment)) redirect(page);
  const transferId = payment.transfer === null ? null : await findTransferId(db, payment.transfer);
  // A payment that belongs to a transfer is corrected with the whole transfer.
  if (transferId !== null) redirect(`/admin/payments/transfers/${transferId}/edit`);
  const { invoice } = await orNotFound(getPaymentContext(db, payment));
  const { amount, currency, payment_date, payment_reference, status, refunded_amount } = payment;
  const counted = status === 'completed' ? amount - refunded_amount : 0;
  const { total, amount_credited, amount_paid } = invoice;
  return (
    <FormPage
      back={{ href: page, label: 'Payment' }}
      title="Correct the payment"
      description={`Invoice ${invoiceName(invoice)}, ${formatMoney(invoice.amount_due, currency)} open`}
    >
      <PaymentForm
        action={edit.bind(null, id, etagOf(payment))}
        submit="Save"
        cancel={page}
        currency={currency}
        open={invoice.stripe_invoice_id ? null : Math.max(0, total - amount_credited - amount_paid + counted)}
        typed={{
          invoice: invoice.number ?? `#${invoice.id}`,
          amount: formatPlainAmount(amount, currency),
          payment_date,
          payment_reference,
        }}
      />
    </FormPage>
  );
});
