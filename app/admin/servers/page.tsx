import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/staff-session';
import { type SearchParams, toParams } from '../../_components/search-params';
import { NewLink } from '../_components/forms/record/new-link';
import { RecordNotice } from '../_components/forms/record/record-notice';
import { ListPage } from '../_components/lists/list-page';
import { SERVERS } from './list';

export const metadata: Metadata = { title: 'Servers' };

export default async function ServersPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const search = toParams(await searchParams);
  return (
    <ListPage
      list={SERVERS}
      search={search}
      actions={<NewLink href="/admin/servers/new">New server</NewLink>}
      notice={<RecordNotice notice={search.get('notice')} done={{ deleted: 'The server is deleted.' }} />}
    />
  );
}
