import { requireStaff } from '@/lib/auth/staff-session';
import { type SearchParams, toParams } from '../../_components/search-params';
import { RecordListPage } from '../_components/forms/record/record-list-page';
import { SERVERS } from './list';

export const metadata = { title: SERVERS.title };

export default async function ServersPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const search = toParams(await searchParams);
  return (
    <RecordListPage list={SERVERS} search={search} create="New server" deleted="The server is deleted." />
  );
}
