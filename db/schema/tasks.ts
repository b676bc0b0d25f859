import { sql } from 'drizzle-orm';
import { index, integer, pgTable, text, unique } from 'drizzle-orm/pg-core';
import { id, instant, timestamps } from './columns';

export type TaskKind =
  | 'payment_differs'
  | 'payment_exceeds_due'
  | 'payment_not_counted'
  | 'customer_missing'
  | 'money_came_back'
  | 'reference_collides';

/** A decision that a person has to make and that no other row shows. A task is open until it is marked as done. */
export const staffTasks = pgTable(
  'staff_tasks',
  {
    id: id(),
    kind: text().$type<TaskKind>().notNull(),
    /** Names it among those of its kind: told again, it is the same task. */
    subject: text().notNull(),
    /** A sentence for staff, with numbers and amounts, and nothing personal. */
    message: text().notNull(),
    /** The record that it is about, if there is one here. */
    entity: text().$type<'invoice' | 'payment'>(),
    entity_id: integer(),
    done_at: instant(),
    done_by: text(),
    ...timestamps,
  },
  (t) => [
    unique('staff_tasks_subject').on(t.kind, t.subject),
    index('staff_tasks_open').on(t.id).where(sql`${t.done_at} is null`),
    index('staff_tasks_entity').on(t.entity, t.entity_id),
  ],
);
