import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/staff-session';
import { type SearchParams, toParams } from '../../_components/search-params';
import { ListPage } from '../_components/lists/list-page';
import { SUBSCRIPTIONS } from './list';

export const metadata: Metadata = { title: 'Subscriptions' };

export default async function SubscriptionsPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const search = toParams(await searchParams);
  return <ListPage list={SUBSCRIPTIONS} search={search} />;
}
