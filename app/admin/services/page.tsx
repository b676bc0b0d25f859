import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/staff-session';
import { type SearchParams, toParams } from '../../_components/search-params';
import { NewLink } from '../_components/forms/record/new-link';
import { RecordNotice } from '../_components/forms/record/record-notice';
import { ListPage } from '../_components/lists/list-page';
import { SERVICES } from './list';

export const metadata: Metadata = { title: 'Services' };

export default async function ServicesPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const search = toParams(await searchParams);
  return (
    <ListPage
      list={SERVICES}
      search={search}
      actions={
        <NewLink href="/admin/services/new" customer={search.get('customer')}>
          New service
        </NewLink>
      }
      notice={<RecordNotice notice={search.get('notice')} done={{ deleted: 'The service is deleted.' }} />}
    />
  );
}
