import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { refunds } from '@/db/schema';
import { listAudit } from '@/lib/audit/list-audit';
import { commandActor } from '@/lib/audit/record-audit';
import * as act from '@/lib/stripe-local/actions';
import { checkWithStripe } from '@/lib/sync/staff/check-with-stripe';
import { getLastCheck } from '@/lib/sync/staff/last-check';
import { createInvoice } from '../support/factories';
import { useSilentStripe } from '../support/silent-stripe';

const at = useSilentStripe();

describe('a check with Stripe at once', () => {
  const check = (entity: 'payment' | 'invoice', id: number) =>
    checkWithStripe(at.deps(), commandActor('test'), entity, id);

  test('names the rows that it made, leaves its entry, and finds nothing the next time', async () => {
    const invoice = await at.paid();
    const { id, customer_id } = await at.paymentOf(invoice);
    await check('payment', id);
    act.refundPayment(at.world, { invoice, amount: 1_900 });
    at.later(60);
    const { changes, failures } = await check('payment', id);
    const [refund] = await at.db.select().from(refunds).where(eq(refunds.payment_id, id));
    expect(failures).toEqual([]);
    expect(changes.map(({ entity, entity_id, field }) => [entity, entity_id, field])).toEqual([
      ['refund', refund?.id, 'created'],
      ['payment', id, 'refunded_amount'],
    ]);
    const history = await listAudit(at.db, 'payment', id);
    expect(history[0]).toMatchObject({ action: 'payment.check', after: { customer_id, changes } });
    const last = await getLastCheck(at.db, history);
    expect(last?.changes.map(({ record }) => record?.name)).toEqual([invoice, invoice]);
    at.later(60);
    expect(await check('payment', id)).toEqual({ changes: [], failures: [] });
  });

  test('of what Stripe does not know is refused, and leaves nothing', async () => {
    const own = await createInvoice(at.db);
    await expect(check('invoice', own.id)).rejects.toMatchObject({ code: 'conflict' });
    await expect(check('payment', 999_999)).rejects.toMatchObject({ code: 'not_found' });
    expect(await listAudit(at.db, 'invoice', own.id)).toEqual([]);
  });
});
