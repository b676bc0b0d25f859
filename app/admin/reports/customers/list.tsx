import { formatCustomer, formatField, formatMonth, joinTexts } from '@/app/_components/format';
import { addDays } from '@/lib/dates';
import { CUSTOMER_MEASURES, type CustomerAmount, customerAmountList } from '@/lib/overview/reports';
import { Money } from '../../_components/display/values';
import { declareList } from '../../_components/lists/list-declaration';
import { type Column, RecordList, type RecordRows } from '../../_components/lists/record-list';
import { AGE_GROUP_TEXTS } from '../../overdue/list';

/** The customers behind the numbers of a recorded month. */
export const CUSTOMER_AMOUNTS = declareList({
  title: 'Amounts by customer',
  description:
    'The amount of each customer in a month’s figures, and for how many months it stayed the same.',
  path: '/admin/reports/customers',
  file: 'report-customers',
  noun: 'amount',
  yet: 'The daily job records each month as soon as it is over.',
  source: customerAmountList,
  fields: () => [
    { name: 'month', label: 'Month', placeholder: '2026-10' },
    {
      name: 'measure',
      label: 'Number',
      options: CUSTOMER_MEASURES.map((measure) => ({ value: measure, label: labelOf(measure) })),
    },
    { name: 'currency', label: 'Currency', placeholder: 'EUR' },
  ],
  Rows: AmountList,
});

const AGES: Record<string, string> = { open: 'Open', ...AGE_GROUP_TEXTS };

function labelOf(measure: string): string {
  const [group = '', name = ''] = measure.split(/_(.*)/);
  if (group === 'mrr') return name ? `MRR: ${name}` : 'MRR';
  return group === 'age' ? (AGES[name] ?? name) : formatField(name);
}

const monthsOf = ({ first_month, until_month }: CustomerAmount) =>
  until_month === null
    ? `Since ${formatMonth(first_month)}`
    : joinMonths(formatMonth(first_month), formatMonth(addDays(until_month, -1)));

const joinMonths = (first: string, last: string) => (first === last ? first : `${first} to ${last}`);

const COLUMNS: Column<CustomerAmount>[] = [
  { label: 'Number', width: '14%', sort: 'customer', cell: ({ customer }) => customer.customer_number },
  { label: 'Customer', cell: ({ customer }) => formatCustomer(customer), title: true },
  { label: 'Kind', width: '18%', cell: ({ measure }) => labelOf(measure) },
  { label: 'Months', width: '28%', cell: monthsOf, title: true },
  { label: 'Amount', width: '15%', align: 'right', cell: amountOf },
];

function AmountList({ rows, sorting }: RecordRows<CustomerAmount>) {
  return (
    <RecordList
      label="Amounts by customer"
      rows={rows}
      hrefOf={({ customer }) => `/admin/customers/${customer.id}`}
      columns={COLUMNS}
      entryOf={(row) => ({
        title: formatCustomer(row.customer),
        detail: joinTexts(row.customer.customer_number, monthsOf(row)),
        figure: amountOf(row),
        state: labelOf(row.measure),
      })}
      sorting={sorting}
    />
  );
}

function amountOf({ amount, currency }: CustomerAmount) {
  return <Money amount={amount} currency={currency} />;
}
