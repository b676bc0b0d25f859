import { z } from 'zod';
import { paymentStatus } from '@/db/schema';
import { calendarDate, oneOf, textLine } from '../fields';
import { perPageParam } from '../page';

/** Orders of the staff's list; a minus stands for the latest or largest first. */
const SORTS = ['-date', 'date', '-amount', 'amount', '-reference', 'reference'] as const;
export type PaymentSort = (typeof SORTS)[number];

/** What staff narrow a list of payments to, as they type it, and its form; both dates are inclusive. */
export const staffFilters = z
  .object({
    /** A number, or `#` and our id. */
    invoice: textLine(100).optional(),
    /** A number, `#` and our id, or part of a number, name, company or e-mail address. */
    customer: textLine(200).optional(),
    status: oneOf(paymentStatus.enumValues).optional(),
    /** Part of it; case does not matter. */
    reference: textLine(255).optional(),
    from: calendarDate.optional(),
    to: calendarDate.optional(),
    sort: z.enum(SORTS).catch('-date'),
    per_page: perPageParam,
  })
  .refine(({ from, to }) => !from || !to || from <= to, {
    path: ['to'],
    message: 'must not be before the first day',
  });
export type StaffFilters = z.infer<typeof staffFilters>;
