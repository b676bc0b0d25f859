import { formatDate, formatField, joinTexts } from '@/app/_components/format';
import { TextLink } from '@/app/_components/links';
import { POSTING_KINDS, type Posting, postingList } from '@/lib/exports/accounting-csv';
import { Money } from '../../_components/display/values';
import { choiceOf, declareList } from '../../_components/lists/list-declaration';
import { type Column, RecordList, type RecordRows } from '../../_components/lists/record-list';

/** The list of all postings. A number of the revenue report links to the postings that it adds up. */
export const POSTINGS = declareList({
  title: 'Postings',
  description: 'The accounting journal. The revenue report adds up the postings of each month.',
  path: '/admin/reports/postings',
  file: 'postings',
  noun: 'posting',
  yet: 'They appear here as soon as an invoice is issued.',
  source: postingList,
  fields: () => [
    { name: 'month', label: 'Month', placeholder: '2026-10' },
    { name: 'record', label: 'Kind', options: KINDS },
    { name: 'currency', label: 'Currency', placeholder: 'EUR' },
  ],
  Rows: PostingList,
});

const KINDS = choiceOf(POSTING_KINDS).map((kind) =>
  kind.value === 'received' ? { ...kind, label: 'Payment and refund' } : kind,
);

function PostingList({ rows, sorting }: RecordRows<Posting>) {
  return (
    <RecordList
      label="Postings"
      rows={rows}
      columns={COLUMNS}
      entryOf={(row) => ({
        title: row.customer_name || row.customer_number,
        detail: joinTexts(formatDate(row.booked_on), eventOf(row), row.payment_reference),
        figure: <Money amount={Number(row.gross)} currency={row.currency} />,
        state: subjectOf(row),
      })}
      sorting={sorting}
    />
  );
}

const eventOf = ({ record, event }: Posting) => `${formatField(record)}: ${formatField(event).toLowerCase()}`;

/** Links to the invoice or the transfer of a posting. The linked record may have been deleted. */
function subjectOf({ invoice_id, invoice_number, transfer_id, payment_reference }: Posting) {
  return invoice_id === null ? (
    <TextLink href={`/admin/payments/transfers/${transfer_id}`}>{payment_reference ?? 'Transfer'}</TextLink>
  ) : (
    <TextLink href={`/admin/invoices/${invoice_id}`}>{invoice_number ?? `#${invoice_id}`}</TextLink>
  );
}

const COLUMNS: Column<Posting>[] = [
  {
    label: 'Posted',
    width: '12%',
    sort: 'date',
    descends: true,
    cell: ({ booked_on }) => formatDate(booked_on),
  },
  {
    label: 'Customer',
    cell: ({ customer_name, customer_number }) => customer_name || customer_number,
    title: true,
  },
  { label: 'Kind', width: '19%', cell: eventOf, title: true },
  { label: 'Invoice', width: '19%', cell: subjectOf },
  {
    label: 'Net',
    width: '13%',
    align: 'right',
    cell: ({ net, currency }) => (net === null ? null : <Money amount={Number(net)} currency={currency} />),
  },
  {
    label: 'Gross',
    width: '13%',
    align: 'right',
    cell: ({ gross, currency }) => <Money amount={Number(gross)} currency={currency} />,
  },
];
