import { requireStaff } from '@/lib/auth/staff-session';
import { type SearchParams, toParams } from '../../_components/search-params';
import { RecordListPage } from '../_components/forms/record/record-list-page';
import { INVOICES } from './list';

export const metadata = { title: INVOICES.title };

export default async function InvoicesPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const search = toParams(await searchParams);
  return (
    <RecordListPage list={INVOICES} search={search} create="New invoice" deleted="The draft is deleted." />
  );
}
