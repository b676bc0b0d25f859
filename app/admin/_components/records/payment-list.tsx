import { formatCustomer, formatDate, joinTexts } from '@/app/_components/format';
import type { NamedPayment } from '@/lib/payments/list';
import type { PaymentRow } from '@/lib/payments/schema';
import { PaidAmount, StatusBadge } from '../display/values';
import { type Column, RecordList, type RecordRows } from '../lists/record-list';
import { CustomerCell } from './customer-link';
import { invoiceName } from './invoice-list';

/** Shows a list of payments. If `isOwn` is true, leaves out the customer. */
export function PaymentList({ rows, isOwn = false, sorting }: RecordRows<NamedPayment>) {
  return (
    <RecordList
      label="Payments"
      rows={rows}
      hrefOf={({ id }) => `/admin/payments/${id}`}
      nameOf={referenceOf}
      columns={isOwn ? OWN_COLUMNS : COLUMNS}
      entryOf={(payment) => ({
        title: isOwn ? invoiceOf(payment) : customerOf(payment),
        detail: joinTexts(
          formatDate(payment.payment_date),
          !isOwn && `invoice ${invoiceOf(payment)}`,
          payment.payment_reference,
        ),
        figure: amountOf(payment),
        state: stateOf(payment),
      })}
      sorting={sorting}
    />
  );
}

const COLUMNS: Column<NamedPayment>[] = [
  { label: 'Date', width: '13%', sort: 'date', descends: true, cell: (p) => formatDate(p.payment_date) },
  {
    label: 'Customer',
    title: customerOf,
    cell: (p) => (p.customer ? <CustomerCell customer={p.customer} /> : customerOf(p)),
  },
  { label: 'Reference', width: '25%', sort: 'reference', cell: referenceOf, title: true },
  { label: 'Invoice', width: '14%', cell: invoiceOf },
  { label: 'Status', width: '12%', cell: stateOf },
  { label: 'Amount', width: '14%', align: 'right', sort: 'amount', descends: true, cell: amountOf },
];

const OWN_COLUMNS = COLUMNS.filter(({ label }) => label !== 'Customer').map((column) =>
  column.label === 'Reference' ? { ...column, width: '' } : column,
);

/** Renders the amount. Omits the refund of a fully refunded payment if its badge already shows the refund. */
function amountOf({ amount, currency, refunded_amount, status, disputed }: NamedPayment) {
  const refunded = status === 'refunded' && !disputed ? 0 : refunded_amount;
  return <PaidAmount amount={amount} currency={currency} refunded={refunded} />;
}

function stateOf({ status, disputed }: NamedPayment) {
  return <StatusBadge status={disputed ? 'disputed' : status} />;
}

function referenceOf({ payment_reference }: NamedPayment): string {
  return payment_reference;
}

function customerOf({ customer, customer_id }: NamedPayment): string {
  return customer ? formatCustomer(customer) : `#${customer_id}`;
}

function invoiceOf({ invoice_id, invoice_number }: NamedPayment): string {
  return invoiceName({ id: invoice_id, number: invoice_number });
}

/** Display name of each payment source. */
export const PAYMENT_SOURCES: Record<PaymentRow['source'], string> = {
  api: 'Payments API',
  staff: 'Staff',
  stripe: 'Stripe',
  import: 'Import',
};
