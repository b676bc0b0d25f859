import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/staff-session';
import { listCustomersForStaff } from '@/lib/customers/list-for-staff';
import { CUSTOMER_STATUSES, type CustomerFilters, customerFilters } from '@/lib/customers/staff-filters';
import { getRuntime } from '@/lib/runtime';
import { type SearchParams, toPageStart, toParams, withParams } from '../../_components/search-params';
import { choiceOf } from '../_components/choice';
import { CursorList } from '../_components/cursor-list';
import { ListPage } from '../_components/list-page';
import { parseFilters } from '../_components/parse-filters';
import { NewLink } from '../_components/record/new-link';
import { RecordNotice } from '../_components/record/record-notice';
import { CustomerList } from './customer-list';
import { PATH } from './path';

export const metadata: Metadata = { title: 'Customers' };

const FIELDS = [
  { name: 'q', label: 'Customer', placeholder: 'Number, name, e-mail' },
  { name: 'status', label: 'Status', options: choiceOf(CUSTOMER_STATUSES) },
  { name: 'country', label: 'Country', placeholder: 'Code, such as AT' },
];

export default async function CustomersPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const search = toParams(await searchParams);
  const parsed = parseFilters(customerFilters, search);
  return (
    <ListPage
      title="Customers"
      actions={<NewLink href={`${PATH}/new`}>New customer</NewLink>}
      notice={<RecordNotice notice={search.get('notice')} done={{ deleted: 'The customer is deleted.' }} />}
      noun="customers"
      path={PATH}
      fields={FIELDS}
      parsed={parsed}
    >
      {(filters) => <Results filters={filters} search={search} params={parsed.params} />}
    </ListPage>
  );
}

interface ResultsProps {
  filters: CustomerFilters;
  search: URLSearchParams;
  params: URLSearchParams;
}

async function Results({ filters, search, params }: ResultsProps) {
  const { db } = await getRuntime();
  const start = toPageStart(search);
  const page = await listCustomersForStaff(db, filters, start);
  const sorting = { sort: filters.sort, to: (sort: string) => withParams(PATH, params, { sort }) };
  return (
    <CursorList
      noun="customers"
      hint={filters.q && filters.q.length < 3 ? 'Within a word, three letters or more are found.' : undefined}
      yet="They appear here as soon as one is entered, or Stripe tells of one."
      {...{ page, start, path: PATH, params, fields: FIELDS }}
    >
      {(customers) => <CustomerList customers={customers} sorting={sorting} />}
    </CursorList>
  );
}
