import { requireStaff } from '@/lib/auth/staff-session';
import { type SearchParams, toParams } from '../../_components/search-params';
import { ListPage } from '../_components/lists/list-page';
import { EVENTS } from './list';

export const metadata = { title: EVENTS.title };

export default async function WebhooksPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  return <ListPage list={EVENTS} search={toParams(await searchParams)} />;
}
