import { eq } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { Database } from '@/db/database';
import { customers, invoices, salesDocuments } from '@/db/schema';
import { AppError } from '../errors';
import { MAX_ID } from '../page';
import { documentColumns, toSalesDocumentRow } from './list';

const confirmation = alias(salesDocuments, 'confirmation');

/** One sales document with its customer and the invoice or order confirmation it became. @throws AppError not_found */
export async function getSalesDocument(db: Database, id: number) {
  const [found] = await db
    .select({
      ...documentColumns,
      invoice: { id: invoices.id, number: invoices.number, status: invoices.status },
      confirmation: { id: confirmation.id, document_number: confirmation.document_number },
      version: salesDocuments.version,
      created_at: salesDocuments.created_at,
      updated_at: salesDocuments.updated_at,
    })
    .from(salesDocuments)
    .innerJoin(customers, eq(customers.id, salesDocuments.customer_id))
    .leftJoin(invoices, eq(invoices.id, salesDocuments.converted_to_invoice_id))
    .leftJoin(confirmation, eq(confirmation.id, salesDocuments.converted_to_document_id))
    .where(eq(salesDocuments.id, Math.min(id, MAX_ID)));
  if (!found) throw new AppError('not_found', `There is no sales document ${id}.`);
  return { ...found, ...toSalesDocumentRow(found) };
}

export type SalesDocumentDetails = Awaited<ReturnType<typeof getSalesDocument>>;
