import { CUSTOMER_STATUSES } from '@/lib/customers/list';
import { type CustomerWithBalance, customerBalanceList } from '@/lib/invoices/customer-balances';
import { formatCustomer, formatMoney, joinTexts } from '../../_components/format';
import { StatusBadge, TwoLines } from '../_components/display/values';
import { choiceOf, declareList } from '../_components/lists/list-declaration';
import { type Column, RecordList } from '../_components/lists/record-list';

export const CUSTOMERS = declareList({
  title: 'Customers',
  path: '/admin/customers',
  noun: 'customer',
  yet: 'They appear here as soon as one is added or Stripe reports one.',
  source: customerBalanceList,
  fields: () => [
    { name: 'q', label: 'Customer', placeholder: 'Number, name, e-mail' },
    { name: 'status', label: 'Status', options: choiceOf(CUSTOMER_STATUSES) },
    { name: 'country', label: 'Country', placeholder: 'Name or code' },
  ],
  hint: ({ q }) => (q && q.length < 3 ? 'To search within a word, type at least three letters.' : undefined),
  Rows: ({ rows, sorting }) => (
    <RecordList
      label="Customers"
      rows={rows}
      hrefOf={({ id }) => `/admin/customers/${id}`}
      columns={COLUMNS}
      entryOf={(customer) => ({
        title: formatCustomer(customer),
        detail: joinTexts(customer.customer_number, customer.email ?? placeOf(customer)),
        figure: customer.balances.length > 0 && balanceOf(customer),
        state: <StatusBadge status={customer.status} />,
      })}
      sorting={sorting}
    />
  ),
});

const COLUMNS: Column<CustomerWithBalance>[] = [
  { label: 'Number', width: '11%', sort: 'number', cell: ({ customer_number }) => customer_number },
  {
    label: 'Name',
    sort: 'name',
    cell: ({ name }) => (name ? <strong>{name}</strong> : '–'),
    title: ({ name }) => name || undefined,
  },
  { label: 'E-mail', width: '25%', cell: ({ email }) => email, title: true },
  { label: 'Place', width: '15%', cell: (customer) => placeOf(customer) || '–', title: placeOf },
  { label: 'Status', width: '10%', cell: ({ status }) => <StatusBadge status={status} /> },
  { label: 'Balance', width: '14%', align: 'right', cell: balanceOf },
];

/** Renders the amounts due, and below them the overdue amounts. */
function balanceOf({ balances }: CustomerWithBalance) {
  if (balances.length === 0) return '–';
  const sums = (of: 'due' | 'overdue') =>
    balances
      .filter((one) => one[of] > 0)
      .map((one) => formatMoney(one[of], one.currency))
      .join(' + ');
  const due = <span className="figures">{sums('due')}</span>;
  const overdue = sums('overdue');
  return overdue ? <TwoLines below={`${overdue} overdue`}>{due}</TwoLines> : due;
}

function placeOf({ city, country }: CustomerWithBalance): string {
  return [city, country].filter(Boolean).join(', ');
}
