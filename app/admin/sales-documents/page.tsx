import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/staff-session';
import { type SearchParams, toParams } from '../../_components/search-params';
import { NewLink } from '../_components/forms/record/new-link';
import { RecordNotice } from '../_components/forms/record/record-notice';
import { ListPage } from '../_components/lists/list-page';
import { SALES_DOCUMENTS } from './list';

export const metadata: Metadata = { title: 'Sales documents' };

export default async function SalesDocumentsPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const search = toParams(await searchParams);
  return (
    <ListPage
      list={SALES_DOCUMENTS}
      search={search}
      actions={
        <NewLink href="/admin/sales-documents/new" customer={search.get('customer')}>
          New document
        </NewLink>
      }
      notice={<RecordNotice notice={search.get('notice')} done={{ deleted: 'The draft is deleted.' }} />}
    />
  );
}
