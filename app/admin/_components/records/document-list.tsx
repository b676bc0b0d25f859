import { formatCustomer, formatDate, formatField, joinTexts } from '@/app/_components/format';
import type { SalesDocumentRow } from '@/lib/sales-documents/queries';
import { Money, StatusBadge } from '../display/values';
import { type Column, RecordList, type RecordRows } from '../lists/record-list';
import { CustomerCell } from './customer-link';
import { pdfColumn } from './invoice-list';

/** Shows a list of offers and order confirmations. If `isOwn` is true, leaves out the customer. */
export function DocumentList({ rows, isOwn = false, sorting }: RecordRows<SalesDocumentRow>) {
  return (
    <RecordList
      label="Sales documents"
      rows={rows}
      hrefOf={({ id }) => `/admin/sales-documents/${id}`}
      columns={isOwn ? [{ ...NUMBER, width: '' }, ...REST] : [NUMBER, CUSTOMER, ...REST]}
      entryOf={(document) => ({
        title: isOwn ? formatField(document.type) : formatCustomer(document.customer),
        detail: joinTexts(
          document.document_number,
          formatField(document.type),
          formatDate(document.document_date),
          document.valid_until && `valid until ${formatDate(document.valid_until)}`,
        ),
        figure: <Money amount={document.total} currency={document.currency} />,
        state: <StatusBadge status={document.status} />,
      })}
      sorting={sorting}
    />
  );
}

const CUSTOMER: Column<SalesDocumentRow> = {
  label: 'Customer',
  cell: ({ customer }) => <CustomerCell customer={customer} />,
};

const NUMBER: Column<SalesDocumentRow> = {
  label: 'Number',
  width: '15%',
  cell: ({ document_number }) => <strong>{document_number}</strong>,
};

const REST: Column<SalesDocumentRow>[] = [
  { label: 'Type', width: '16%', cell: ({ type }) => formatField(type) },
  { label: 'Date', width: '12%', sort: 'date', descends: true, cell: (row) => formatDate(row.document_date) },
  {
    label: 'Valid until',
    width: '12%',
    cell: (row) => (row.valid_until ? formatDate(row.valid_until) : '–'),
  },
  { label: 'Status', width: '12%', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    label: 'Total',
    width: '13%',
    align: 'right',
    sort: 'amount',
    descends: true,
    cell: ({ total, currency }) => <Money amount={total} currency={currency} />,
  },
  pdfColumn(({ id, status, document_number: number }) =>
    status === 'draft' ? null : { number, path: `/admin/sales-documents/${id}/document` },
  ),
];
