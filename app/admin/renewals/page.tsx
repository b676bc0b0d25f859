import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { type SearchParams, toParams } from '../../_components/search-params';
import { ListPage } from '../_components/lists/list-page';
import { RENEWALS } from './list';
import { RenewalSums } from './renewal-sums';

export const metadata: Metadata = { title: 'Renewals' };

export default async function RenewalsPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const search = toParams(await searchParams);
  return (
    <ListPage list={RENEWALS} search={search}>
      <RenewalSums search={search} />
    </ListPage>
  );
}
