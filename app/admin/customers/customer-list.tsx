import type { ListedCustomer } from '@/lib/customers/list-for-staff';
import { type Column, RecordList } from '../_components/record-list';
import type { Sorting } from '../_components/sort-links';
import { StatusBadge } from '../_components/status-badge';
import { PATH } from './path';

export function CustomerList({ customers, sorting }: { customers: ListedCustomer[]; sorting: Sorting }) {
  return (
    <RecordList
      label="Customers"
      rows={customers}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `${PATH}/${id}`}
      columns={COLUMNS}
      entryOf={(customer) => ({
        title: customer.name || customer.customer_number,
        detail: [customer.customer_number, customer.email ?? placeOf(customer)].filter(Boolean).join(' · '),
        state: <StatusBadge status={customer.status} />,
      })}
      sorting={sorting}
    />
  );
}

const COLUMNS: Column<ListedCustomer>[] = [
  { label: 'Number', width: '11%', sort: 'number', cell: ({ customer_number }) => customer_number },
  {
    label: 'Name',
    sort: 'name',
    cell: ({ name }) => (name ? <strong>{name}</strong> : '–'),
    title: ({ name }) => name || undefined,
  },
  {
    label: 'E-mail',
    width: '27%',
    cell: ({ email }) => email ?? '–',
    title: ({ email }) => email ?? undefined,
  },
  { label: 'Place', width: '17%', cell: (customer) => placeOf(customer) || '–' },
  { label: 'Currency', width: '9%', cell: ({ currency }) => currency.toUpperCase() },
  { label: 'Status', width: '10%', cell: ({ status }) => <StatusBadge status={status} /> },
];

function placeOf({ city, country }: ListedCustomer): string {
  return [city, country].filter(Boolean).join(', ');
}
