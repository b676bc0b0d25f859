import {
  CUSTOMER_STATUSES,
  customerList,
  type ListedCustomer,
  ownBalance,
} from '@/lib/invoices/customer-balances';
import { formatCustomer, formatDate, formatMoney, joinTexts } from '../../_components/format';
import { StatusBadge, TwoLines } from '../_components/display/values';
import { choiceOf, declareList } from '../_components/lists/list-declaration';
import { type Column, RecordList } from '../_components/lists/record-list';

export const CUSTOMERS = declareList({
  title: 'Customers',
  description:
    'Sorting by open amount or due date uses each customer’s own currency. Customers who owe nothing in that currency come last.',
  path: '/admin/customers',
  noun: 'customer',
  yet: 'They appear here as soon as one is added or Stripe reports one.',
  source: customerList,
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
        detail: joinTexts(
          customer.customer_number,
          customer.email ?? placeOf(customer),
          ownBalance(customer) && `oldest due ${oldestDue(customer)}`,
        ),
        figure: customer.balances.length > 0 && balanceOf(customer),
        state: <StatusBadge status={customer.status} />,
      })}
      sorting={sorting}
    />
  ),
});

const COLUMNS: Column<ListedCustomer>[] = [
  { label: 'Number', width: '11%', sort: 'number', cell: ({ customer_number }) => customer_number },
  {
    label: 'Name',
    sort: 'name',
    cell: ({ name }) => (name ? <strong>{name}</strong> : '–'),
    title: ({ name }) => name || undefined,
  },
  { label: 'E-mail', width: '22%', cell: ({ email }) => email, title: true },
  { label: 'Place', width: '13%', cell: (customer) => placeOf(customer) || '–', title: placeOf },
  { label: 'Status', width: '10%', cell: ({ status }) => <StatusBadge status={status} /> },
  { label: 'Oldest due', width: '11%', sort: 'due', cell: oldestDue },
  { label: 'Open', width: '14%', align: 'right', sort: 'open', descends: true, cell: balanceOf },
];

/** Formats the earliest due date in the customer's own currency, because the list sorts by this date. */
function oldestDue(customer: ListedCustomer): string {
  const own = ownBalance(customer);
  return own ? formatDate(own.oldest_due) : '–';
}

/** Renders the amounts due, and below them the overdue amounts. */
function balanceOf({ balances }: ListedCustomer) {
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

function placeOf({ city, country }: ListedCustomer): string {
  return [city, country].filter(Boolean).join(', ');
}
