import { z } from 'zod';
import type { Database } from '@/db/database';
import { salesDocumentStatus, salesDocumentType } from '@/db/schema';
import { withCustomerId } from '../customers/match-customer';
import { dateRange, isInOrder, oneOf, textLine, WRONG_ORDER } from '../fields';
import { perPageParam } from '../page';
import type { SalesDocumentConditions } from './queries';

export const DOCUMENT_STATUSES = salesDocumentStatus.enumValues;
export const DOCUMENT_TYPES = salesDocumentType.enumValues;

/** What staff narrow a list of sales documents to, as they type it. */
export const documentStaffFilters = z
  .object({
    /** A whole number, or `#` and our id. */
    customer: textLine(100).optional(),
    number: textLine(100).optional(),
    type: oneOf(DOCUMENT_TYPES).optional(),
    status: oneOf(DOCUMENT_STATUSES).optional(),
    ...dateRange,
    per_page: perPageParam,
  })
  .refine(isInOrder, WRONG_ORDER);
export type DocumentStaffFilters = z.infer<typeof documentStaffFilters>;

/** The same as the list takes it; null where there is no such customer. */
export async function toDocumentConditions(
  db: Database,
  { customer, number, from, to, ...filters }: DocumentStaffFilters,
): Promise<SalesDocumentConditions | null> {
  const conditions = { ...filters, document_number: number, document_date_from: from, document_date_to: to };
  return withCustomerId(db, customer, conditions);
}
