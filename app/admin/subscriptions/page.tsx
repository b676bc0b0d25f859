import { requireStaff } from '@/lib/auth/staff-session';
import { type SearchParams, toParams } from '../../_components/search-params';
import { ListPage } from '../_components/lists/list-page';
import { SUBSCRIPTIONS } from './list';

export const metadata = { title: SUBSCRIPTIONS.title };

export default async function SubscriptionsPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  return <ListPage list={SUBSCRIPTIONS} search={toParams(await searchParams)} />;
}
