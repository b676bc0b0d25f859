import { Alert, Box } from '@mantine/core';
import { redirect } from 'next/navigation';
import { formatMoney, formatPlainAmount } from '@/app/_components/format';
import { invoiceName } from '@/app/admin/_components/records/invoice-list';
import { toCalendarDate } from '@/lib/dates';
import { etagOf } from '@/lib/http/messages';
import { getPaymentContext } from '@/lib/payments/list';
import { getPayment } from '@/lib/payments/queries';
import { orNotFound } from '../../../../_components/or-not-found';
import { PageHeader } from '../../../_components/page/page-header';
import { rowIdIn, staffPage } from '../../../_components/page/staff-page';
import { titleOfRow } from '../../../_components/page/title-of';
import { refund } from '../../actions';
import { RefundForm } from '../../payment-forms';

export const generateMetadata = titleOfRow('Record a refund', async (db, id) => {
  const { payment_reference } = await getPayment(db, id);
  return `Refund of ${payment_reference}`;
});

export default staffPage<{ id: string }>(async ({ params, runtime: { db, env, now } }) => {
  const id = rowIdIn(params);
  const payment = await orNotFound(getPayment(db, id));
  const page = `/admin/payments/${id}`;
  if (payment.status !== 'completed') redirect(page);
  const { amount, refunded_amount, currency, payment_reference } = payment;
  const { invoice } = await orNotFound(getPaymentContext(db, payment));
  const left = amount - refunded_amount;
  const of = refunded_amount > 0 ? `${formatMoney(left, currency)} of ` : '';
  return (
    <Box maw={600}>
      <PageHeader
        back={{ href: page, label: 'Payment' }}
        title="Record a refund"
        description={`${payment_reference}: ${of}${formatMoney(amount, currency)} can be refunded`}
      />
      <Alert color="orange" variant="light" mb="lg" title="No money is moved">
        This only records money that you refunded elsewhere. Nothing is refunded at Stripe: use the Stripe
        dashboard for that, and the refund appears here automatically.
      </Alert>
      <RefundForm
        action={refund.bind(null, id, etagOf(payment))}
        cancel={page}
        currency={currency}
        invoice={{ ...invoice, name: invoiceName(invoice), isManaged: invoice.stripe_invoice_id !== null }}
        submit="Record refund"
        typed={{ amount: formatPlainAmount(left, currency), date: toCalendarDate(now(), env.timeZone) }}
      />
    </Box>
  );
});
