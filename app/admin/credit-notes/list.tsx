import { formatCustomer, formatDate, joinTexts } from '@/app/_components/format';
import { pastPresets } from '@/lib/dates';
import { CREDIT_NOTE_KINDS, creditNoteList, type ListedCreditNote } from '@/lib/invoices/credit-note-list';
import { Money, StatusBadge } from '../_components/display/values';
import { choiceOf, customerField, declareList } from '../_components/lists/list-declaration';
import { type Column, RecordList, type RecordRows } from '../_components/lists/record-list';
import { CustomerCell } from '../_components/records/customer-link';
import { InvoiceLink, pdfColumn } from '../_components/records/invoice-list';

export const CREDIT_NOTES = declareList({
  title: 'Credit notes',
  description: 'Credit notes and cancellations of our own invoices, and Stripe’s credit notes.',
  path: '/admin/credit-notes',
  noun: 'credit note',
  yet: 'They appear here as soon as an invoice is credited or cancelled.',
  source: creditNoteList,
  fields: (today) => [
    customerField,
    { name: 'number', label: 'Number', placeholder: 'Full number or #ID' },
    { name: 'kind', label: 'Kind', options: choiceOf(CREDIT_NOTE_KINDS) },
    { name: 'from', label: 'Date', presets: pastPresets(today) },
  ],
  Rows: CreditNoteList,
});

function CreditNoteList({ rows, sorting }: RecordRows<ListedCreditNote>) {
  return (
    <RecordList
      label="Credit notes"
      rows={rows}
      hrefOf={hrefOf}
      columns={COLUMNS}
      entryOf={(note) => ({
        title: note.number,
        detail: joinTexts(formatCustomer(note.customer), formatDate(note.date), note.invoice_number),
        figure: <Money amount={note.total} currency={note.currency} />,
        state: <KindBadge note={note} />,
      })}
      sorting={sorting}
    />
  );
}

const KindBadge = ({ note: { voided_at, kind } }: { note: ListedCreditNote }) => (
  <StatusBadge status={voided_at ? 'voided' : kind} />
);

/** Returns the URL of the credit note's invoice, whose page shows the credit note. */
const hrefOf = ({ invoice_id }: ListedCreditNote) => `/admin/invoices/${invoice_id}`;

const COLUMNS: Column<ListedCreditNote>[] = [
  {
    label: 'Number',
    width: '17%',
    cell: ({ number }) => <strong>{number}</strong>,
  },
  { label: 'Customer', cell: ({ customer }) => <CustomerCell customer={customer} /> },
  {
    label: 'Invoice',
    width: '15%',
    cell: ({ invoice_id, invoice_number }) => (
      <InvoiceLink invoice={{ id: invoice_id, number: invoice_number }} />
    ),
  },
  { label: 'Kind', width: '14%', cell: (note) => <KindBadge note={note} /> },
  { label: 'Date', width: '12%', sort: 'date', descends: true, cell: ({ date }) => formatDate(date) },
  {
    label: 'Total',
    width: '13%',
    align: 'right',
    cell: ({ total, currency }) => <Money amount={total} currency={currency} />,
  },
  pdfColumn(({ id, number, voided_at }) =>
    voided_at ? null : { number, path: `/admin/credit-notes/${id}/document` },
  ),
];
