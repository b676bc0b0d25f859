import { formatPlainAmount } from '@/app/_components/format';
import { getTransfer } from '@/lib/payments/queries';
import { FormPage, recordPage, titleOfRow } from '../../../../_components/page/staff-page';
import { correct } from '../../actions';
import { TransferCorrection } from '../../transfer-forms';

export const generateMetadata = titleOfRow(
  'Correct a transfer',
  getTransfer,
  (one) => `Correct transfer ${one.reference}`,
);

export default recordPage(getTransfer, async (transfer, { id }) => {
  const { amount, currency, payment_date, reference, method, version } = transfer;
  const page = `/admin/payments/transfers/${id}`;
  return (
    <FormPage
      back={{ href: page, label: 'Transfer' }}
      title="Correct the transfer"
      description="Its payments get the same date and reference."
    >
      <TransferCorrection
        action={correct.bind(null, id, version)}
        cancel={page}
        currency={currency}
        typed={{
          ...{ amount: formatPlainAmount(amount, currency), payment_date },
          ...{ payment_reference: reference, method: method ?? '' },
        }}
      />
    </FormPage>
  );
});
