import { z } from 'zod';
import { customerStatus } from '@/db/schema';
import { oneOf } from '../fields';
import { perPageParam } from '../page';
import { countryCode } from '../records/fields';
import { customerQuery } from './schema';

export const CUSTOMER_STATUSES = customerStatus.enumValues;

/** Orders of the staff's list; a minus stands for the last or latest first. */
const SORTS = ['-created', 'created', 'number', '-number', 'name', '-name'] as const;

/** What staff narrow a list of customers to. */
export const customerFilters = z.object({
  /** A whole number or e-mail address, or part of one, of a name or a company. */
  q: customerQuery.optional(),
  status: oneOf(CUSTOMER_STATUSES).optional(),
  country: countryCode.optional(),
  sort: z.enum(SORTS).catch('-created'),
  per_page: perPageParam,
});
export type CustomerFilters = z.infer<typeof customerFilters>;
