import { Group } from '@mantine/core';
import { redirect } from 'next/navigation';
import { formatCustomer } from '@/app/_components/format';
import { TextLink } from '@/app/_components/links';
import { toHref } from '@/app/_components/search-params';
import { findErasedAt } from '@/lib/customers/queries';
import { toCalendarDate } from '@/lib/dates';
import { listOpenInvoices } from '@/lib/payments/queries';
import { FormPage, recordPage, titleOfRow } from '../../../_components/page/staff-page';
import { invoiceName } from '../../../_components/records/invoice-list';
import { spread } from '../../../payments/transfers/actions';
import { TransferForm } from '../../../payments/transfers/transfer-forms';
import { readCustomer } from '../../form-parts';

export const generateMetadata = titleOfRow(
  'Record a transfer',
  readCustomer,
  (one) => `Transfer of ${formatCustomer(one)}`,
);

/**
 * Shows the form for a new transfer. The currency defaults to that of the unpaid invoice that is due first, or else to
 * the customer's. The URL can choose the customer's currency, or that of any unpaid invoice.
 */
export default recordPage(readCustomer, async (customer, { id, db, search, timeZone, runtime: { now } }) => {
  const page = `/admin/customers/${id}`;
  if (customer.id !== id || (await findErasedAt(db, id))) redirect(page);
  const invoices = await listOpenInvoices(db, id);
  const currencies = [...new Set([...invoices.map((one) => one.currency), customer.currency])];
  const asked = search.get('currency');
  const currency = currencies.find((code) => code === asked) ?? currencies[0] ?? customer.currency;
  return (
    <FormPage
      back={{ href: page, label: 'Customer' }}
      title="Record a transfer"
      description={`${formatCustomer(customer)}: one payment for one or more invoices`}
    >
      {currencies.length > 1 && (
        <Group gap="md" mb="md">
          {currencies
            .filter((code) => code !== currency)
            .map((code) => (
              <TextLink key={code} href={toHref(`${page}/transfer`, { currency: code })}>
                {`In ${code.toUpperCase()} instead`}
              </TextLink>
            ))}
        </Group>
      )}
      <TransferForm
        key={currency}
        action={spread.bind(null, id, currency)}
        cancel={page}
        currency={currency}
        open={invoices
          .filter((one) => one.currency === currency)
          .map(({ stripe_invoice_id, ...one }) => ({
            ...{ id: one.id, name: invoiceName(one), due_date: one.due_date, amount_due: one.amount_due },
            isManaged: stripe_invoice_id !== null,
          }))}
        typed={{
          ...{ amount: '', payment_reference: '', method: 'Bank transfer' },
          payment_date: toCalendarDate(now(), timeZone),
        }}
      />
    </FormPage>
  );
});
