import type { NamedPayment } from '@/lib/payments/payment-context';
import { formatDate } from '../../_components/format';
import { Money } from './money';
import { type Column, RecordList } from './record-list';
import type { Sorting } from './sort-links';
import { StatusBadge } from './status-badge';

interface Props {
  payments: NamedPayment[];
  /** Where the order can be chosen. */
  sorting?: Sorting;
}

export function PaymentList({ payments, sorting }: Props) {
  return (
    <RecordList
      label="Payments"
      rows={payments}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `/admin/payments/${id}`}
      columns={COLUMNS}
      entryOf={(payment) => ({
        title: customerOf(payment),
        detail: `${formatDate(payment.payment_date)} · ${payment.payment_reference}`,
        figure: <Money {...payment} />,
        state: <StatusBadge status={payment.status} />,
      })}
      sorting={sorting}
    />
  );
}

const COLUMNS: Column<NamedPayment>[] = [
  { label: 'Date', width: '13%', sort: 'date', descends: true, cell: (p) => formatDate(p.payment_date) },
  { label: 'Customer', cell: customerOf },
  {
    label: 'Reference',
    width: '25%',
    sort: 'reference',
    cell: (payment) => payment.payment_reference,
    title: (payment) => payment.payment_reference,
  },
  { label: 'Invoice', width: '14%', cell: (p) => p.invoice_number ?? `#${p.invoice_id}` },
  { label: 'Status', width: '12%', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    label: 'Amount',
    width: '14%',
    align: 'right',
    sort: 'amount',
    descends: true,
    cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
  },
];

function customerOf({ customer, customer_id }: NamedPayment): string {
  return customer?.name || customer?.customer_number || `#${customer_id}`;
}
