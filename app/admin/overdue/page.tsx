import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { type SearchParams, toParams } from '../../_components/search-params';
import { ListPage } from '../_components/lists/list-page';
import { OVERDUE } from './list';
import { OverdueSums } from './overdue-sums';

export const metadata: Metadata = { title: 'Overdue invoices' };

export default async function OverduePage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  return (
    <ListPage list={OVERDUE} search={toParams(await searchParams)}>
      <OverdueSums />
    </ListPage>
  );
}
