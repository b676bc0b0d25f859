import { z } from 'zod';
import type { Database } from '@/db/database';
import { billingInterval, serviceStatus, serviceType } from '@/db/schema';
import { withCustomerId } from '../customers/match-customer';
import { oneOf, textLine } from '../fields';
import { perPageParam } from '../page';
import type { ServiceConditions } from './queries';

export const SERVICE_STATUSES = serviceStatus.enumValues;
export const SERVICE_TYPES = serviceType.enumValues;
export const BILLING_INTERVALS = billingInterval.enumValues;

/** What staff narrow a list of services to, as they type it. */
export const serviceStaffFilters = z.object({
  /** A whole number, or `#` and our id. */
  customer: textLine(100).optional(),
  number: textLine(100).optional(),
  /** Part of it; case does not matter. */
  domain: textLine(253).optional(),
  type: oneOf(SERVICE_TYPES).optional(),
  status: oneOf(SERVICE_STATUSES).optional(),
  per_page: perPageParam,
});
export type ServiceStaffFilters = z.infer<typeof serviceStaffFilters>;

/** The same as the list takes it; null where there is no such customer. */
export async function toServiceConditions(
  db: Database,
  { customer, number, type, ...filters }: ServiceStaffFilters,
): Promise<ServiceConditions | null> {
  return withCustomerId(db, customer, { ...filters, service_number: number, service_type: type });
}
