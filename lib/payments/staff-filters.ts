import { z } from 'zod';
import { paymentStatus } from '@/db/schema';
import { dateRange, isInOrder, oneOf, textLine, WRONG_ORDER } from '../fields';
import { perPageParam } from '../page';
import { normalReference } from './normal-reference';

/** Orders of the staff's list; a minus stands for the latest or largest first. */
const SORTS = ['-date', 'date', '-amount', 'amount', '-reference', 'reference'] as const;
export type PaymentSort = (typeof SORTS)[number];

type Narrowing = Partial<Record<'invoice' | 'customer' | 'reference' | 'from' | 'to', string | undefined>>;

/** No index has the payments of some days by reference: unless few match, all others could stand before them. */
export function hasReferenceOrder({ from, to, invoice, customer, reference }: Narrowing): boolean {
  return !(from || to) || [invoice, customer, reference].some((text) => text !== undefined);
}

/** The states a payment can be filtered by: its own, and those of its refunds and disputes. */
export const PAYMENT_STATES = [...paymentStatus.enumValues, 'refunded_in_part', 'disputed'] as const;

/** What staff narrow a list of payments to, as they type it, and its form. */
export const staffFilters = z
  .object({
    /** A number, or `#` and our id. */
    invoice: textLine(100).optional(),
    /** A number, `#` and our id, or part of a number, name, company or e-mail address. */
    customer: textLine(200).optional(),
    status: oneOf(PAYMENT_STATES).optional(),
    /** Part of it; case does not matter. */
    reference: textLine(255, normalReference).optional(),
    ...dateRange,
    sort: z.enum(SORTS).catch('-date'),
    per_page: perPageParam,
  })
  .refine(isInOrder, WRONG_ORDER)
  .overwrite((filters) =>
    filters.sort.endsWith('reference') && !hasReferenceOrder(filters)
      ? { ...filters, sort: '-date' as const }
      : filters,
  );
export type StaffFilters = z.infer<typeof staffFilters>;
