import { listAudit } from '@/lib/audit/audit-log';
import { toDeletedPayment } from '@/lib/payments/queries';
import { getRuntime } from '@/lib/runtime';
import { formatMoney } from '../../_components/format';
import { TextLink } from '../../_components/links';
import { toId } from '../../_components/search-params';
import { NewLink } from '../_components/forms/record/record-list-page';
import { ListPage } from '../_components/lists/list-page';
import { Notice } from '../_components/page/notice';
import { staffPage } from '../_components/page/staff-page';
import { PAYMENTS } from './list';

export const metadata = { title: 'Payments' };

export default staffPage(async ({ search }) => (
  <ListPage
    list={PAYMENTS}
    search={search}
    actions={<NewLink href="/admin/payments/new">Record payment</NewLink>}
    notice={<DeletedNotice id={search.get('deleted')} />}
  />
));

/** Shows which payment was deleted and who deleted it, according to the audit log. */
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
