import { requireStaff } from '@/lib/auth/staff-session';
import { type SearchParams, toParams } from '../../_components/search-params';
import { RecordListPage } from '../_components/forms/record/record-list-page';
import { SERVICES } from './list';

export const metadata = { title: SERVICES.title };

export default async function ServicesPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const search = toParams(await searchParams);
  return (
    <RecordListPage list={SERVICES} search={search} create="New service" deleted="The service is deleted." />
  );
}
