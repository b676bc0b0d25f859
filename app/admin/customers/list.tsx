import { CUSTOMER_STATUSES, customerFilters, customersCsv } from '@/lib/customers/list-for-staff';
import { type CustomerWithBalance, listCustomersWithBalance } from '@/lib/invoices/customer-balances';
import { choiceOf } from '../_components/lists/choice';
import type { ListDeclaration } from '../_components/lists/list-declaration';
import { CustomerList } from './customer-list';

export const CUSTOMERS = {
  title: 'Customers',
  path: '/admin/customers',
  noun: 'customer',
  yet: 'They appear here as soon as one is added or Stripe reports one.',
  schema: customerFilters,
  fields: () => [
    { name: 'q', label: 'Customer', placeholder: 'Number, name, e-mail' },
    { name: 'status', label: 'Status', options: choiceOf(CUSTOMER_STATUSES) },
    { name: 'country', label: 'Country', placeholder: 'Name or code' },
  ],
  hint: ({ q }) => (q && q.length < 3 ? 'To search within a word, type at least three letters.' : undefined),
  read: ({ db }, filters, { start }) => listCustomersWithBalance(db, filters, start),
  Rows: ({ rows, sorting }) => <CustomerList customers={rows} sorting={sorting} />,
  csv: ({ db }, filters) => customersCsv(db, filters),
} satisfies ListDeclaration<typeof customerFilters, CustomerWithBalance>;
