import { and, desc, eq, sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, pickColumns } from '@/db/database';
import { customerNotes, customers } from '@/db/schema';
import { transact } from '@/db/transaction';
import { recordAudit, toActorColumns } from '../audit/audit-log';
import { AppError, invalidField } from '../errors';
import { MAX_ID } from '../page';
import { literal } from '../page-query';
import type { RecordWriter } from '../records/record-kind';

/** The maximum length of a note, in characters. */
export const MAX_NOTE = 5000;

// biome-ignore lint/suspicious/noControlCharactersInRegex: finds control characters on purpose
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

const noteText = z
  .string('must be a string')
  .overwrite((text) => text.replaceAll(/\r\n?/g, '\n').trim())
  .min(1, 'must not be empty')
  .refine(
    (text) => text.length <= MAX_NOTE || [...text].length <= MAX_NOTE,
    `must have at most ${MAX_NOTE} characters`,
  )
  .refine((text) => text.isWellFormed() && !CONTROL.test(text), 'must not contain control characters');

/**
 * Adds a note to a customer. The text of a note is never changed, and only an erasure deletes notes. To correct a note,
 * staff add another.
 *
 * @throws AppError validation_failed; not_found
 */
export async function addCustomerNote(
  db: Database,
  customerId: number,
  text: unknown,
  writer: RecordWriter,
): Promise<{ id: number }> {
  const parsed = noteText.safeParse(text);
  if (!parsed.success) throw invalidField('text', parsed.error.issues[0]?.message ?? 'is wrong');
  return transact(db, (tx) => insertNote(tx, customerId, parsed.data, writer));
}

/** Adds a note about a change, in the transaction of that change. @throws AppError as `addCustomerNote` does */
export async function insertNote(
  tx: Database,
  customerId: number,
  text: string,
  { actor, now }: RecordWriter,
): Promise<{ id: number }> {
  const [customer] = await tx
    .select({ erased_at: customers.erased_at })
    .from(customers)
    .where(eq(customers.id, Math.min(customerId, MAX_ID)))
    .for('update');
  if (!customer) throw new AppError('not_found', 'It no longer exists.');
  if (customer.erased_at) throw invalidField('text', 'cannot be added: this customer was erased');
  const note = { customer_id: customerId, text, ...toActorColumns(actor), created_at: now };
  const [after] = await tx.insert(customerNotes).values(note).returning();
  const id = Number(after?.id);
  const entry = { action: 'customer_note.create', entity: 'customer_note', entity_id: id } as const;
  await recordAudit(tx, { actor, ...entry, before: null, after: { ...after } });
  return { id };
}

/**
 * Lists the notes about a customer, the newest first.
 *
 * @param behind the last note of the previous page; if absent, the first page is returned
 */
export async function listCustomerNotes(
  db: Database,
  customerId: number,
  limit: number,
  behind: { created_at: Date; id: number } | null = null,
) {
  const place = behind && sql`(${behind.created_at.toISOString()}::timestamptz, ${behind.id}::int)`;
  return db
    .select(pickColumns(customerNotes, 'id', 'text', 'actor_name', 'created_at'))
    .from(customerNotes)
    .where(
      and(
        eq(customerNotes.customer_id, customerId),
        place ? sql`(${customerNotes.created_at}, ${customerNotes.id}) < ${place}` : undefined,
      ),
    )
    .orderBy(desc(customerNotes.created_at), desc(customerNotes.id))
    .limit(literal(limit));
}

export type CustomerNote = Awaited<ReturnType<typeof listCustomerNotes>>[number];
