import { IconPlus } from '@tabler/icons-react';
import type { Metadata } from 'next';
import { formatMoney } from '@/app/_components/format';
import { LinkButton, TextLink } from '@/app/_components/links';
import { type SearchParams, toId, toParams } from '@/app/_components/search-params';
import { listAudit } from '@/lib/audit/audit-log';
import { requireStaff } from '@/lib/auth/staff-session';
import { toDeletedPayment } from '@/lib/payments/queries';
import { getRuntime } from '@/lib/runtime';
import { ListPage } from '../_components/lists/list-page';
import { Notice } from '../_components/page/notice';
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

/** Says which payment was just deleted, as its history has it. */
async function DeletedNotice({ id: text }: { id: string | null }) {
  const id = toId(text ?? '');
  if (id === null) return null;
  const { db } = await getRuntime();
  const deleted = toDeletedPayment(await listAudit(db, 'payment', id));
  if (!deleted) return null;
  const { amount, currency, payment_reference } = deleted.payment;
  return (
    <Notice tone="done">
      {`${formatMoney(amount, currency)}, ${payment_reference}, was deleted by ${deleted.deleted_by}. `}
      <TextLink href={`/admin/payments/${id}`}>See its history</TextLink>
    </Notice>
  );
}
