import { listAudit } from '@/lib/audit/audit-log';
import { toDeletedPayment } from '@/lib/payments/queries';
import { getRuntime } from '@/lib/runtime';
import { formatMoney } from '../../_components/format';
import { TextLink } from '../../_components/links';
import { toId } from '../../_components/search-params';
import { Notice } from '../_components/page/notice';

/** Says which payment was just deleted, as its history has it. */
export async function DeletedNotice({ id: text }: { id: string | null }) {
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
