import { Alert } from '@mantine/core';
import { redirect } from 'next/navigation';
import { formatMoney, formatPlainAmount } from '@/app/_components/format';
import { toCalendarDate } from '@/lib/dates';
import { getTransfer } from '@/lib/payments/queries';
import { ActionForm } from '../../../../_components/forms/form';
import { FormPage, recordPage, titleOfRow } from '../../../../_components/page/staff-page';
import { payBack } from '../../actions';

export const generateMetadata = titleOfRow(
  'Pay back credit',
  getTransfer,
  (one) => `Credit of ${one.reference} paid back`,
);

/** Shows the form for recording credit that was paid back. */
export default recordPage(getTransfer, async (transfer, { id, timeZone, runtime: { now } }) => {
  const { credit, currency, reference, version } = transfer;
  const page = `/admin/payments/transfers/${id}`;
  if (credit === 0) redirect(page);
  return (
    <FormPage
      back={{ href: page, label: 'Transfer' }}
      title="Record credit as paid back"
      description={`${reference}: ${formatMoney(credit, currency)} is credit`}
    >
      <Alert color="orange" variant="light" mb="lg" title="No money is moved">
        This only records money that you have sent back to the customer elsewhere.
      </Alert>
      <ActionForm
        label="Paid back"
        isSheet
        keeps
        version={version}
        action={payBack.bind(null, id, version)}
        cancel={page}
        submit="Record as paid back"
        fields={[
          {
            name: 'amount',
            label: `Amount in ${currency.toUpperCase()}`,
            inputMode: 'decimal',
            required: true,
          },
          { name: 'date', label: 'Paid back on', type: 'date', required: true },
        ]}
        typed={{ amount: formatPlainAmount(credit, currency), date: toCalendarDate(now(), timeZone) }}
      />
    </FormPage>
  );
});
