import { z } from 'zod';
import { invoiceStatus } from '@/db/schema';
import { dateRange, isInOrder, oneOf, textLine, WRONG_ORDER } from '../fields';
import { perPageParam } from '../page';

/** The states an invoice can be filtered by: its own, those that wait for money, and what came of payments since. */
export const INVOICE_STATES = [...invoiceStatus.enumValues, 'open', 'refunded_in_part'] as const;

/** Orders of the staff's list; a minus stands for the latest or largest first. */
const SORTS = ['-date', 'date', '-amount', 'amount'] as const;

/** What staff narrow a list of invoices to, as they type it. */
export const invoiceStaffFilters = z
  .object({
    /** A whole number, `#` and our id, or part of a number, name, company or e-mail address. */
    customer: textLine(200).optional(),
    number: textLine(100).optional(),
    status: oneOf(INVOICE_STATES).optional(),
    ...dateRange,
    sort: z.enum(SORTS).catch('-date'),
    per_page: perPageParam,
  })
  .refine(isInOrder, WRONG_ORDER);
export type InvoiceStaffFilters = z.infer<typeof invoiceStaffFilters>;
