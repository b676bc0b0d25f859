import type { InvoiceRow } from '@/lib/invoices/schema';
import { formatDate } from '../../_components/format';
import { CustomerName } from './customer-name';
import { Money } from './money';
import { PaidAmount } from './paid-amount';
import { type Column, RecordList } from './record-list';
import { StatusBadge } from './status-badge';

type ListedInvoice = Pick<InvoiceRow, 'id' | 'number' | 'status' | 'invoice_date' | 'due_date' | 'currency'> &
  Pick<InvoiceRow, 'total' | 'amount_due'> & {
    /** Where it is known what came back. */
    refunded_amount?: number;
  };

interface Props<Row> {
  invoices: Row[];
}

/** Invoices of several customers. */
export function InvoiceList({ invoices }: Props<InvoiceRow & ListedInvoice>) {
  return (
    <List<InvoiceRow & ListedInvoice>
      invoices={invoices}
      columns={[
        NUMBER,
        { label: 'Customer', cell: ({ customer }) => <CustomerName customer={customer} /> },
        ...REST,
      ]}
      detailOf={({ customer }) => customer.name || customer.customer_number}
    />
  );
}

/** Those of one. */
export function OwnInvoiceList({ invoices }: Props<ListedInvoice>) {
  return <List invoices={invoices} columns={[{ ...NUMBER, width: '' }, ...REST]} detailOf={() => null} />;
}

interface ListProps<Row> extends Props<Row> {
  columns: Column<Row>[];
  detailOf(row: Row): string | null;
}

function List<Row extends ListedInvoice>({ invoices, columns, detailOf }: ListProps<Row>) {
  return (
    <RecordList
      label="Invoices"
      rows={invoices}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `/admin/invoices/${id}`}
      columns={columns}
      entryOf={(invoice) => ({
        title: invoiceName(invoice),
        detail: [detailOf(invoice), formatDate(invoice.invoice_date)].filter(Boolean).join(' · '),
        figure: totalOf(invoice),
        state: <StatusBadge status={invoice.status} />,
      })}
    />
  );
}

const NUMBER: Column<ListedInvoice> = {
  label: 'Number',
  width: '16%',
  cell: (invoice) => <strong>{invoiceName(invoice)}</strong>,
};

const REST: Column<ListedInvoice>[] = [
  { label: 'Date', width: '13%', cell: ({ invoice_date }) => formatDate(invoice_date) },
  { label: 'Due', width: '13%', cell: ({ due_date }) => (due_date ? formatDate(due_date) : '–') },
  { label: 'Status', width: '12%', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    label: 'Open',
    width: '13%',
    align: 'right',
    cell: (row) => (row.amount_due > 0 ? <Money amount={row.amount_due} currency={row.currency} /> : '–'),
  },
  {
    label: 'Total',
    width: '13%',
    align: 'right',
    cell: totalOf,
  },
];

function totalOf({ total, currency, refunded_amount = 0 }: ListedInvoice) {
  return <PaidAmount amount={total} currency={currency} refunded={refunded_amount} />;
}

/** A draft has no number yet. */
export function invoiceName({ number, id }: Pick<InvoiceRow, 'number' | 'id'>): string {
  return number ?? `#${id}`;
}
