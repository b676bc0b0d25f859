import { z } from 'zod';
import { billingInterval, serviceStatus, serviceType } from '@/db/schema';
import { customerIdFilter, customerSnippet } from '../customers/schema';
import { oneOf, textLine } from '../fields';
import { pageFields, pageOf } from '../page';

export const serviceFilters = z.strictObject({
  customer_id: customerIdFilter,
  status: oneOf(serviceStatus.enumValues).optional(),
  service_type: oneOf(serviceType.enumValues).optional(),
  domain: textLine(253)
    .optional()
    .describe('Part of the domain. Case does not matter; % and _ stand for themselves.'),
  ...pageFields,
});

/** A service that a customer rents. */
export const serviceRow = z.object({
  id: z.int(),
  service_number: z.string(),
  service_type: z.enum(serviceType.enumValues),
  status: z.enum(serviceStatus.enumValues),
  name: z.string(),
  domain: z.string().nullable(),
  server_id: z.int().nullable(),
  price: z.number().describe('Per billing interval, without tax'),
  currency: z.string(),
  billing_interval: z.enum(billingInterval.enumValues),
  start_date: z.string().nullable(),
  next_billing_date: z.string().nullable(),
  ends_on: z.string().nullable(),
  cancelled_at: z.string().nullable().describe('Instant, ISO 8601'),
  customer: customerSnippet,
});

export const servicePage = pageOf(serviceRow);

export type ServiceFilters = z.infer<typeof serviceFilters>;
export type ServiceRow = z.infer<typeof serviceRow>;
