import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/staff-session';
import { type SearchParams, toParams } from '../../_components/search-params';
import { NewLink } from '../_components/forms/record/new-link';
import { RecordNotice } from '../_components/forms/record/record-notice';
import { ListPage } from '../_components/lists/list-page';
import { INVOICES } from './list';

export const metadata: Metadata = { title: 'Invoices' };

export default async function InvoicesPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const search = toParams(await searchParams);
  return (
    <ListPage
      list={INVOICES}
      search={search}
      actions={
        <NewLink href="/admin/invoices/new" customer={search.get('customer')}>
          New invoice
        </NewLink>
      }
      notice={<RecordNotice notice={search.get('notice')} done={{ deleted: 'The draft is deleted.' }} />}
    />
  );
}
