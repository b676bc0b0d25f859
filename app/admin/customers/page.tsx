import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/staff-session';
import { type SearchParams, toParams } from '../../_components/search-params';
import { NewLink } from '../_components/forms/record/new-link';
import { RecordNotice } from '../_components/forms/record/record-notice';
import { ListPage } from '../_components/lists/list-page';
import { CUSTOMERS } from './list';

export const metadata: Metadata = { title: 'Customers' };

export default async function CustomersPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const search = toParams(await searchParams);
  return (
    <ListPage
      list={CUSTOMERS}
      search={search}
      actions={<NewLink href="/admin/customers/new">New customer</NewLink>}
      notice={<RecordNotice notice={search.get('notice')} done={{ deleted: 'The customer is deleted.' }} />}
    />
  );
}
