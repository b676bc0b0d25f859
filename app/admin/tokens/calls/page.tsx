import type { Metadata } from 'next';
import { requireAdmin } from '@/lib/auth/staff-session';
import { type SearchParams, toParams } from '../../../_components/search-params';
import { ListPage } from '../../_components/lists/list-page';
import { CALLS } from './list';

export const metadata: Metadata = { title: 'Tool calls' };

/** Who asked what over MCP. */
export default async function CallsPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireAdmin();
  const search = toParams(await searchParams);
  return <ListPage list={CALLS} search={search} />;
}
