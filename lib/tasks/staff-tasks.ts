import { and, desc, eq, inArray, isNotNull, isNull, or } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { invoices, payments, staffTasks, type TaskKind } from '@/db/schema';
import { AppError } from '../errors';
import { MAX_ID } from '../page';
import { literal } from '../page-query';

export type StoredTask = typeof staffTasks.$inferSelect;
export type StaffTask = Pick<StoredTask, 'kind' | 'subject' | 'message' | 'entity' | 'entity_id'>;

/** The name of each kind of task on the pages. */
export const TASK_KINDS: Record<TaskKind, string> = {
  payment_differs: 'Stripe and a recorded payment differ',
  payment_exceeds_due: 'Paid more than Stripe asks for',
  payment_not_counted: 'Stripe does not count a recorded payment',
  customer_missing: 'Billed at Stripe without a customer',
  money_came_back: 'A bank took money back',
  reference_collides: 'Two payments with one reference',
  time_zone_changed: 'APP_TIMEZONE was changed',
};

/** Adds a task in the transaction that causes it. Does nothing if a task with its kind and subject exists. */
export async function tellStaff(tx: Database, task: StaffTask): Promise<void> {
  await tx.insert(staffTasks).values(task).onConflictDoNothing();
}

/** The maximum number of tasks in a list. */
const MAX_TASKS = 100;

/** Lists up to 100 open tasks, newest first, or with `done` the tasks that were done last. `kind` defaults to all. */
export function listStaffTasks(
  db: Database,
  { done = false, kind }: { done?: boolean; kind?: StaffTask['kind'] } = {},
): Promise<StoredTask[]> {
  return db
    .select()
    .from(staffTasks)
    .where(
      and(
        done ? isNotNull(staffTasks.done_at) : isNull(staffTasks.done_at),
        kind && eq(staffTasks.kind, kind),
      ),
    )
    .orderBy(desc(done ? staffTasks.done_at : staffTasks.id))
    .limit(literal(MAX_TASKS));
}

export function countOpenTasks(db: Database): Promise<number> {
  return db.$count(staffTasks, isNull(staffTasks.done_at));
}

/** Lists open tasks, oldest first, about an invoice, a payment, or a customer's invoices and payments. */
export async function listTasksOf(db: Database, entity: 'customer' | 'invoice' | 'payment', id: number) {
  const { entity_id } = staffTasks;
  const isOf = (name: 'invoice' | 'payment') => eq(staffTasks.entity, name);
  const its = (table: typeof invoices | typeof payments) =>
    inArray(entity_id, db.select({ id: table.id }).from(table).where(eq(table.customer_id, known)));
  const known = Math.min(id, MAX_ID);
  const isIts =
    entity === 'customer'
      ? or(and(isOf('invoice'), its(invoices)), and(isOf('payment'), its(payments)))
      : and(isOf(entity), eq(entity_id, known));
  return db
    .select()
    .from(staffTasks)
    .where(and(isNull(staffTasks.done_at), isIts))
    .orderBy(staffTasks.id);
}

/**
 * Marks a task as done. If it is already done, the first person stays recorded.
 *
 * @param by the email address of a member of staff
 * @throws AppError not_found
 */
export async function finishTask(db: Database, id: number, { by, now }: { by: string; now: Date }) {
  const isIt = eq(staffTasks.id, Math.min(id, MAX_ID));
  const finished = await db
    .update(staffTasks)
    .set({ done_at: now, done_by: by })
    .where(and(isIt, isNull(staffTasks.done_at)))
    .returning({ id: staffTasks.id });
  if (finished.length > 0 || (await db.$count(staffTasks, isIt)) > 0) return;
  throw new AppError('not_found', 'There is no such task.');
}
