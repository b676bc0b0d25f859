import { leftOf } from '@/lib/invoices/settle';
import { toThousandths } from '@/lib/money';
import { isOffStripe, namesStripeMoney } from '@/lib/payments/stripe-payment';
import { givenBack } from './read';
import { LATER_CHANGE, type ModelRows, type ModelTables } from './tables';

type Task = ModelRows['tasks'] extends Map<number, infer Row> ? Row : never;

/** Closes the tasks about payments that a commit settles, like the SQL function `close_settled_tasks`. */
export function closeSettledTasks(tables: ModelTables, invoiceIds: number[], paymentIds: number[]): void {
  const { payments, tasks } = tables.rows;
  const invoices = new Set([
    ...invoiceIds,
    ...paymentIds.flatMap((id) => payments.get(id)?.invoice_id ?? []),
  ]);
  const isConcerned = ({ entity, entity_id: id }: Task) =>
    entity === 'payment' &&
    id !== null &&
    (paymentIds.includes(id) || invoices.has(payments.get(id)?.invoice_id ?? 0));
  for (const task of tasks.values()) {
    if (task.done_by === null && isConcerned(task) && isSettled(tables.rows, task)) {
      tables.put('tasks', task.id, { ...task, done_by: LATER_CHANGE });
    }
  }
}

function isSettled({ payments, invoices }: ModelRows, { kind, entity_id }: Task): boolean {
  if (!['payment_differs', 'payment_exceeds_due', 'payment_not_counted'].includes(kind)) return false;
  const payment = payments.get(entity_id ?? 0);
  if (!payment) return true;
  if (kind === 'payment_differs') return false;
  const invoice = invoices.get(payment.invoice_id);
  if (!invoice || invoice.stripe_invoice_id === null || leftOf(payment) <= 0) return true;
  if (invoice.collected_by_payment_id === payment.id) return true;
  const isStripes = namesStripeMoney(payment.payment_reference);
  if (kind === 'payment_not_counted' && isStripes) return true;
  const counted = [...payments.values()].filter((one) =>
    isStripes
      ? one.id === payment.id && one.source !== 'stripe'
      : one.invoice_id === invoice.id && isOffStripe(one) && one.id !== invoice.collected_by_payment_id,
  );
  const recorded = counted.reduce((sum, one) => sum + leftOf(one), 0);
  const due = kind === 'payment_exceeds_due' ? toThousandths(invoice.amount_due) : 0;
  return recorded <= toThousandths(invoice.amount_off_stripe ?? '0') + givenBack(payments, invoice) + due;
}
