import type { InvoiceRow } from '@/lib/invoices/schema';
import { formatDate } from '../../_components/format';
import { CustomerName } from './customer-name';
import { Money } from './money';
import { type Column, RecordList } from './record-list';
import { StatusBadge } from './status-badge';

type ListedInvoice = Pick<InvoiceRow, 'id' | 'number' | 'status' | 'invoice_date' | 'due_date' | 'currency'> &
  Pick<InvoiceRow, 'total' | 'amount_due'>;

interface Props<Row> {
  invoices: Row[];
}

/** Invoices of several customers. */
export function InvoiceList({ invoices }: Props<InvoiceRow>) {
  return (
    <List<InvoiceRow>
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
        figure: <Money amount={invoice.total} currency={invoice.currency} />,
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
    cell: (row) => <Money amount={row.total} currency={row.currency} />,
  },
];

/** A draft has no number yet. */
export function invoiceName({ number, id }: Pick<InvoiceRow, 'number' | 'id'>): string {
  return number ?? `#${id}`;
}
