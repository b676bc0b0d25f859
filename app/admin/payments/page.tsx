import { IconPlus } from '@tabler/icons-react';
import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { LinkButton } from '../../_components/links';
import { type SearchParams, toParams } from '../../_components/search-params';
import { ListPage } from '../_components/lists/list-page';
import { DeletedNotice } from './deleted-notice';
import { PAYMENTS } from './list';

export const metadata: Metadata = { title: 'Payments' };

export default async function PaymentsPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const search = toParams(await searchParams);
  return (
    <ListPage
      list={PAYMENTS}
      search={search}
      actions={
        <LinkButton href="/admin/payments/new" size="sm" leftSection={<IconPlus size={16} aria-hidden />}>
          Record payment
        </LinkButton>
      }
      notice={<DeletedNotice id={search.get('deleted')} />}
    />
  );
}
