import { requireStaff } from '@/lib/auth/staff-session';
import { type SearchParams, toParams } from '../../_components/search-params';
import { RecordListPage } from '../_components/forms/record/record-list-page';
import { SALES_DOCUMENTS } from './list';

export const metadata = { title: SALES_DOCUMENTS.title };

export default async function SalesDocumentsPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const search = toParams(await searchParams);
  return (
    <RecordListPage
      list={SALES_DOCUMENTS}
      search={search}
      create="New document"
      deleted="The draft is deleted."
    />
  );
}
