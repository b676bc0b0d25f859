import { and, desc, eq, inArray, isNotNull, isNull, notInArray, or, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { invoices, payments, staffTasks, type TaskKind } from '@/db/schema';
import { AppError } from '../errors';
import { MAX_ID } from '../page';
import { literal } from '../page-query';

export type StoredTask = typeof staffTasks.$inferSelect;
export type StaffTask = Pick<StoredTask, 'kind' | 'subject' | 'message' | 'entity' | 'entity_id'>;

/** Title of each kind of task on the staff pages. */
export const TASK_KINDS: Record<TaskKind, string> = {
  payment_differs: 'Stripe and a recorded payment differ',
  payment_exceeds_due: 'Paid more than Stripe asks for',
  payment_not_counted: 'Stripe does not count a recorded payment',
  customer_missing: 'Billed at Stripe without a customer',
  money_came_back: 'A bank took money back',
  reference_collides: 'Two payments with one reference',
  time_zone_changed: 'APP_TIMEZONE was changed',
  payout_differs: 'A payout of Stripe differs',
};

/** Adds a task in the transaction that causes it. Does nothing if a task with the same kind and subject exists. */
export async function tellStaff(tx: Database, task: StaffTask): Promise<void> {
  await tx.insert(staffTasks).values(task).onConflictDoNothing();
}

/** Values of `done_by` for tasks that a program closed. If the reason for a task returns, the program reopens it. */
const BY_PROGRAM = ['Stripe', 'a later change'];

/**
 * Replaces the tasks of one kind about a record with the given tasks. Closes stored tasks whose reason no longer
 * exists. A task that a person closed stays closed.
 */
export async function replaceTasks(
  tx: Database,
  about: Pick<StaffTask, 'kind' | 'entity'> & { entity_id: number },
  tasks: Pick<StaffTask, 'subject' | 'message'>[],
): Promise<void> {
  const { kind, entity_id } = about;
  const subjects = tasks.map(({ subject }) => subject);
  const isOver = subjects.length > 0 ? notInArray(staffTasks.subject, subjects) : undefined;
  await tx
    .update(staffTasks)
    .set({ done_at: sql`now()`, done_by: 'a later change' })
    .where(
      and(eq(staffTasks.kind, kind), eq(staffTasks.entity_id, entity_id), isNull(staffTasks.done_at), isOver),
    );
  if (tasks.length === 0) return;
  await tx
    .insert(staffTasks)
    .values(tasks.map((task) => ({ ...about, ...task })))
    .onConflictDoUpdate({
      target: [staffTasks.kind, staffTasks.subject],
      set: { message: sql`excluded.message`, done_at: null, done_by: null },
      setWhere: sql`${staffTasks.done_at} is null and ${staffTasks.message} <> excluded.message
        or ${inArray(staffTasks.done_by, BY_PROGRAM)}`,
    });
}

const MAX_TASKS = 100;

/**
 * Lists up to 100 open tasks, newest first. If `done` is true, lists the most recently finished tasks instead. `kind`
 * defaults to all kinds.
 */
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
 * Marks a task as done. If it was already done, the person who finished it first stays recorded.
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
