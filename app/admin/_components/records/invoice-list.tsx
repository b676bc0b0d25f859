import { Anchor } from '@mantine/core';
import { formatCustomer, formatDate, formatDay, formatMoney, joinTexts } from '@/app/_components/format';
import { TextLink } from '@/app/_components/links';
import type { InvoiceRow } from '@/lib/invoices/schema';
import { Money, PaidAmount, StatusBadge, TwoLines } from '../display/values';
import { type Column, RecordList, type RecordRows } from '../lists/record-list';
import { CustomerCell } from './customer-link';

type ListedInvoice = Pick<InvoiceRow, 'id' | 'number' | 'status' | 'invoice_date' | 'due_date' | 'currency'> &
  Pick<InvoiceRow, 'total' | 'amount_due'> & {
    /** Refunded amount. Undefined if the query does not read it. */
    refunded_amount?: number;
    /** Whether the invoice is issued and its lines are known. Undefined if the query does not read it. */
    is_printed?: boolean;
    /** Time of the first failed payment. Undefined if the query does not read it. */
    payment_failed_at?: Date | null;
    customer?: InvoiceRow['customer'];
  };

interface InvoiceListProps extends RecordRows<ListedInvoice> {
  timeZone: string;
}

/** Shows a list of invoices. If `isOwn` is true, leaves out the customer. */
export function InvoiceList({ rows, timeZone, isOwn = false, sorting }: InvoiceListProps) {
  const rest = restOf(timeZone);
  return (
    <RecordList
      label="Invoices"
      rows={rows}
      hrefOf={({ id }) => `/admin/invoices/${id}`}
      columns={isOwn ? [{ ...NUMBER, width: '' }, ...rest] : [NUMBER, CUSTOMER, ...rest]}
      entryOf={(invoice) => ({
        title: invoiceName(invoice),
        detail: joinTexts(
          !isOwn && invoice.customer && formatCustomer(invoice.customer),
          formatDate(invoice.invoice_date),
          invoice.due_date && `due ${formatDate(invoice.due_date)}`,
          failureOf(invoice, timeZone),
          invoice.amount_due > 0 && `${formatMoney(invoice.amount_due, invoice.currency)} open`,
        ),
        figure: totalOf(invoice),
        state: <StatusBadge status={invoice.status} />,
      })}
      sorting={sorting}
    />
  );
}

const CUSTOMER: Column<ListedInvoice> = {
  label: 'Customer',
  cell: ({ customer }) => customer && <CustomerCell customer={customer} />,
};

const NUMBER: Column<ListedInvoice> = {
  label: 'Number',
  width: '15%',
  cell: (invoice) => <strong>{invoiceName(invoice)}</strong>,
};

const restOf = (timeZone: string): Column<ListedInvoice>[] => [
  { label: 'Date', width: '12%', sort: 'date', descends: true, cell: (row) => formatDate(row.invoice_date) },
  { label: 'Due', width: '15%', sort: 'due', cell: (invoice) => dueOf(invoice, timeZone) },
  { label: 'Status', width: '11%', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    label: 'Open',
    width: '12%',
    align: 'right',
    sort: 'open',
    descends: true,
    cell: (row) => (row.amount_due > 0 ? <Money amount={row.amount_due} currency={row.currency} /> : '–'),
  },
  { label: 'Total', width: '12%', align: 'right', sort: 'amount', descends: true, cell: totalOf },
  pdfColumn((invoice) =>
    invoice.is_printed
      ? { number: invoiceName(invoice), path: `/admin/invoices/${invoice.id}/document` }
      : null,
  ),
];

function totalOf({ total, currency, refunded_amount = 0 }: ListedInvoice) {
  return <PaidAmount amount={total} currency={currency} refunded={refunded_amount} />;
}

/** Renders the due date, and below it the first failed payment of an overdue invoice. */
function dueOf(invoice: ListedInvoice, timeZone: string) {
  const due = invoice.due_date ? formatDate(invoice.due_date) : '–';
  const failure = failureOf(invoice, timeZone);
  return failure ? <TwoLines below={failure}>{due}</TwoLines> : due;
}

function failureOf({ status, payment_failed_at: failed }: ListedInvoice, timeZone: string): string | null {
  return failed && status === 'overdue' ? `Payment failed ${formatDay(failed, timeZone)}` : null;
}

/** Returns the number of an invoice, or its id as `#12` if it has no number yet. */
export function invoiceName({ number, id }: Pick<InvoiceRow, 'number' | 'id'>): string {
  return number ?? `#${id}`;
}

/** Shows a link to an invoice, by number, or by id if it has no number yet. */
export function InvoiceLink({ invoice }: { invoice: Parameters<typeof invoiceName>[0] }) {
  return <TextLink href={`/admin/invoices/${invoice.id}`}>{invoiceName(invoice)}</TextLink>;
}

/**
 * Creates the list column that links to the PDF of each record.
 *
 * @param of returns the number of a record and the path of its PDF, or null if the record has no PDF
 */
export function pdfColumn<Row>(of: (row: Row) => { number: string; path: string } | null): Column<Row> {
  return {
    label: 'PDF',
    width: '6%',
    cell(row) {
      const file = of(row);
      if (!file) return null;
      return (
        <Anchor href={file.path} size="sm" aria-label={`PDF of ${file.number}`}>
          PDF
        </Anchor>
      );
    },
  };
}
