import { z } from 'zod';
import type { Database } from '@/db/database';
import { invoiceStatus } from '@/db/schema';
import { withCustomerId } from '../customers/match-customer';
import { dateRange, isInOrder, oneOf, textLine, WRONG_ORDER } from '../fields';
import { perPageParam } from '../page';
import type { InvoiceConditions } from './queries';

/** The states an invoice can be filtered by: its own, and what came of its payments since. */
export const INVOICE_STATES = [...invoiceStatus.enumValues, 'refunded_in_part'] as const;

/** What staff narrow a list of invoices to, as they type it. */
export const invoiceStaffFilters = z
  .object({
    /** A whole number, or `#` and our id. */
    customer: textLine(100).optional(),
    number: textLine(100).optional(),
    status: oneOf(INVOICE_STATES).optional(),
    ...dateRange,
    per_page: perPageParam,
  })
  .refine(isInOrder, WRONG_ORDER);
export type InvoiceStaffFilters = z.infer<typeof invoiceStaffFilters>;

/** The same as the list takes it; null where there is no such customer. */
export async function toInvoiceConditions(
  db: Database,
  { customer, from, to, status: state, ...filters }: InvoiceStaffFilters,
): Promise<InvoiceConditions | null> {
  const isPart = state === 'refunded_in_part';
  return withCustomerId(db, customer, {
    ...filters,
    ...(isPart ? { isRefundedInPart: true } : { status: state }),
    invoice_date_from: from,
    invoice_date_to: to,
  });
}
