import { requireStaff } from '@/lib/auth/staff-session';
import { type SearchParams, toParams } from '../../_components/search-params';
import { RecordListPage } from '../_components/forms/record/record-list-page';
import { CUSTOMERS } from './list';

export const metadata = { title: CUSTOMERS.title };

export default async function CustomersPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const search = toParams(await searchParams);
  return (
    <RecordListPage
      list={CUSTOMERS}
      search={search}
      create="New customer"
      deleted="The customer is deleted."
    />
  );
}
