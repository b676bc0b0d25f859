import { formatCount, formatDate, joinTexts } from '@/app/_components/format';
import { type ListedStatement, statementList } from '@/lib/bank/queries';
import { pastPresets } from '@/lib/dates';
import { Money } from '../_components/display/values';
import { declareList } from '../_components/lists/list-declaration';
import { type Column, RecordList, type RecordRows } from '../_components/lists/record-list';

export const BANK_STATEMENTS = declareList({
  title: 'Bank statements',
  description: 'Statements of your own accounts. Incoming money is booked when you accept a proposal.',
  path: '/admin/bank',
  noun: 'bank statement',
  yet: 'Upload the first one here.',
  // The source has no `csv`, so this list offers no download. Each statement's page offers a CSV file of its entries.
  source: { schema: statementList.schema, read: statementList.read },
  fields: (today) => [
    { name: 'account', label: 'Account', placeholder: 'IBAN or part of it' },
    { name: 'from', label: 'Last day', presets: pastPresets(today) },
  ],
  Rows: StatementList,
});

function StatementList({ rows, sorting }: RecordRows<ListedStatement>) {
  return (
    <RecordList
      label="Bank statements"
      rows={rows}
      hrefOf={({ id }) => `/admin/bank/${id}`}
      columns={COLUMNS}
      entryOf={(row) => ({
        title: periodOf(row),
        detail: joinTexts(accountOf(row), openText(row)),
        figure: row.closing === null ? '–' : balance(row.closing, row.currency),
      })}
      sorting={sorting}
    />
  );
}

/** Formats the period of a statement: "1 Mar 2026 – 31 Mar 2026". A single day is shown as one date. */
export const periodOf = ({ first_day, last_day }: Pick<ListedStatement, 'first_day' | 'last_day'>) =>
  first_day === last_day ? formatDate(first_day) : `${formatDate(first_day)} – ${formatDate(last_day)}`;

const accountOf = ({ account, currency }: ListedStatement) => `${account} ${currency.toUpperCase()}`;

const openText = ({ open_entries }: ListedStatement) =>
  open_entries === 0 ? 'All explained' : `${formatCount(open_entries, 'entry', 'entries')} not explained`;

const balance = (amount: number | null, currency: string) =>
  amount === null ? 'Not in the file' : <Money amount={amount} currency={currency} />;

const COLUMNS: Column<ListedStatement>[] = [
  {
    label: 'Period',
    width: '25%',
    sort: 'date',
    descends: true,
    cell: (row) => <strong>{periodOf(row)}</strong>,
  },
  { label: 'Account', cell: accountOf, title: true },
  { label: 'Entries', width: '22%', cell: openText },
  {
    label: 'Booked',
    width: '14%',
    align: 'right',
    cell: (row) => <Money amount={row.booked} currency={row.currency} />,
  },
  { label: 'Closing', width: '14%', align: 'right', cell: (row) => balance(row.closing, row.currency) },
];
