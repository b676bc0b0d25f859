import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { salesDocuments } from '@/db/schema';
import { transact } from '@/db/transaction';
import { recordAudit } from '../audit/audit-log';
import { deleteRecordWithin, type Seen } from '../records/delete-record';
import type { RecordKind, RecordWriter } from '../records/record-kind';

/**
 * Deletes a draft of an invoice or a sales document. The document that it was made of is accepted again, so that
 * another one can be made.
 *
 * @throws AppError as `deleteRecord`
 */
export function deleteDraft(db: Database, kind: RecordKind, seen: Seen, writer: RecordWriter): Promise<void> {
  const became =
    kind.name === 'invoice'
      ? salesDocuments.converted_to_invoice_id
      : salesDocuments.converted_to_document_id;
  return transact(db, async (tx) => {
    // In the order in which converting locks them.
    const sources = await tx.select().from(salesDocuments).where(eq(became, seen.id)).for('update');
    for (const before of sources) {
      const [after = null] = await tx
        .update(salesDocuments)
        .set({ status: 'accepted', [became.name]: null })
        .where(eq(salesDocuments.id, before.id))
        .returning();
      const entity = { entity: 'sales_document', entity_id: before.id } as const;
      await recordAudit(tx, {
        actor: writer.actor,
        action: 'sales_document.update',
        ...entity,
        before,
        after,
      });
    }
    await deleteRecordWithin(tx, kind, seen, writer);
  });
}
