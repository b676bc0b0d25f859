import { eq, inArray, sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { auditLog, customerNotes, customers } from '@/db/schema';
import { addCustomerNote, listCustomerNotes, MAX_NOTE } from '@/lib/customers/notes';
import type { RecordWriter } from '@/lib/records/record-kind';
import { staffRecordWriter } from '@/lib/records/staff-writer';
import { listTimeline } from '@/lib/timeline/list-timeline';
import { useDatabase } from '../support/database';
import { createCustomer } from '../support/factories';

const base = useDatabase();
const at = (day: number): RecordWriter =>
  staffRecordWriter(
    { now: () => new Date(Date.UTC(2026, 2, day, 9)), env: { timeZone: 'UTC' } },
    { id: 's1', email: 'grace@example.com' },
  );

describe('a note on a customer', () => {
  test('has its lines, its author and its day, and an entry in the audit log', async () => {
    const { id } = await createCustomer(base.db);
    const note = await addCustomerNote(base.db, id, ' Called.\r\nWill pay on Friday. ', at(3));
    expect(await listCustomerNotes(base.db, id, 10)).toEqual([
      {
        id: note.id,
        text: 'Called.\nWill pay on Friday.',
        actor_name: 'grace@example.com',
        created_at: at(3).now,
      },
    ]);
    const log = await base.db.select().from(auditLog).where(eq(auditLog.entity, 'customer_note'));
    expect(log).toMatchObject([
      {
        action: 'customer_note.create',
        entity_id: note.id,
        actor_name: 'grace@example.com',
        before: null,
        after: { customer_id: id, text: 'Called.\nWill pay on Friday.' },
      },
    ]);
  });

  test.each([
    ['', 'must not be empty'],
    [' \r\n ', 'must not be empty'],
    ['x'.repeat(MAX_NOTE + 1), `must have at most ${MAX_NOTE} characters`],
    ['a\u0000b', 'must not contain control characters'],
    [null, 'must be a string'],
  ])('is refused when it is %j', async (text, message) => {
    const { id } = await createCustomer(base.db);
    await expect(addCustomerNote(base.db, id, text, at(3))).rejects.toMatchObject({
      code: 'validation_failed',
      fields: [{ field: 'text', message }],
    });
    expect(await base.db.$count(customerNotes, eq(customerNotes.customer_id, id))).toBe(0);
  });

  test('keeps a customer that sync would remove as empty', async () => {
    const [noted, plain] = [await createCustomer(base.db), await createCustomer(base.db)];
    await addCustomerNote(base.db, noted.id, 'Knows us from a fair.', at(3));
    for (const { id } of [noted, plain]) await base.db.execute(sql`select remove_if_empty(${id}::int)`);
    expect(await base.db.$count(customers, inArray(customers.id, [noted.id, plain.id]))).toBe(1);
    const [before] = await base.db.select().from(customers).where(eq(customers.id, noted.id));
    await addCustomerNote(base.db, noted.id, 'Called.', at(4));
    const [after] = await base.db.select().from(customers).where(eq(customers.id, noted.id));
    expect(after).toEqual(before); // whoever edits it meanwhile is not disturbed
  });

  test('of nobody is refused', async () => {
    await expect(addCustomerNote(base.db, 999_999, 'x', at(3))).rejects.toMatchObject({ code: 'not_found' });
  });

  test('stands in the timeline, page by page, and in nobody else’s', async () => {
    const { id } = await createCustomer(base.db);
    const other = await createCustomer(base.db);
    for (let n = 1; n <= 35; n += 1) await addCustomerNote(base.db, id, `note ${n}`, at(1 + (n % 5)));
    const said: string[] = [];
    for (let before: string | null | undefined; before !== null; ) {
      const page = await listTimeline(base.db, id, { timeZone: 'UTC', before: before ?? null });
      said.push(...page.entries.map((entry) => (entry.kind === 'note' ? entry.note.text : entry.kind)));
      before = page.older;
    }
    expect(said).toHaveLength(35);
    expect(new Set(said).size).toBe(35);
    expect([said[0], said.at(-1)]).toEqual(['note 34', 'note 5']);
    expect((await listTimeline(base.db, other.id, { timeZone: 'UTC' })).entries).toEqual([]);
  });
});
