import { z } from 'zod';
import type { Database } from '@/db/database';
import { invoiceStatus } from '@/db/schema';
import { withCustomerId } from '../customers/match-customer';
import { dateRange, isInOrder, oneOf, textLine, WRONG_ORDER } from '../fields';
import { perPageParam } from '../page';
import type { InvoiceConditions } from './queries';

export const INVOICE_STATUSES = invoiceStatus.enumValues;

/** What staff narrow a list of invoices to, as they type it. */
export const invoiceStaffFilters = z
  .object({
    /** A whole number, or `#` and our id. */
    customer: textLine(100).optional(),
    number: textLine(100).optional(),
    status: oneOf(INVOICE_STATUSES).optional(),
    ...dateRange,
    per_page: perPageParam,
  })
  .refine(isInOrder, WRONG_ORDER);
export type InvoiceStaffFilters = z.infer<typeof invoiceStaffFilters>;

/** The same as the list takes it; null where there is no such customer. */
export async function toInvoiceConditions(
  db: Database,
  { customer, from, to, ...filters }: InvoiceStaffFilters,
): Promise<InvoiceConditions | null> {
  return withCustomerId(db, customer, { ...filters, invoice_date_from: from, invoice_date_to: to });
}
