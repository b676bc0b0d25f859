import { z } from 'zod';
import { billingInterval, serviceStatus, serviceType } from '@/db/schema';
import { dateRange, isInOrder, oneOf, textLine, WRONG_ORDER } from '../fields';
import { perPageParam } from '../page';

export const SERVICE_STATUSES = serviceStatus.enumValues;
export const SERVICE_TYPES = serviceType.enumValues;
export const BILLING_INTERVALS = billingInterval.enumValues;

/** Orders of the staff's list; a minus stands for the last first. */
const SORTS = ['number', '-number', 'next-billing', '-next-billing'] as const;

/** What staff narrow a list of services to, as they type it. */
export const serviceStaffFilters = z
  .object({
    /** A whole number, `#` and our id, or part of a number, name, company or e-mail address. */
    customer: textLine(200).optional(),
    number: textLine(100).optional(),
    /** Part of it; case does not matter. */
    domain: textLine(253).optional(),
    type: oneOf(SERVICE_TYPES).optional(),
    status: oneOf(SERVICE_STATUSES).optional(),
    /** A host name, or `#` and our id. */
    server: textLine(253).optional(),
    /** The days on which they are billed next. */
    ...dateRange,
    sort: z.enum(SORTS).catch('number'),
    per_page: perPageParam,
  })
  .refine(isInOrder, WRONG_ORDER);
export type ServiceStaffFilters = z.infer<typeof serviceStaffFilters>;
