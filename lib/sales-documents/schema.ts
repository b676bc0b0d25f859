import { z } from 'zod';
import { salesDocumentStatus, salesDocumentType } from '@/db/schema';
import { customerIdFilter, customerSnippet } from '../customers/schema';
import { calendarDate, oneOf } from '../fields';
import { pageFields, pageOf } from '../page';

export const salesDocumentFilters = z
  .strictObject({
    customer_id: customerIdFilter,
    type: oneOf(salesDocumentType.enumValues).optional(),
    status: oneOf(salesDocumentStatus.enumValues).optional(),
    document_date_from: calendarDate.optional().describe('Inclusive.'),
    document_date_to: calendarDate.optional().describe('Inclusive.'),
    ...pageFields,
  })
  .refine((f) => !f.document_date_from || !f.document_date_to || f.document_date_from <= f.document_date_to, {
    path: ['document_date_from'],
    message: 'must not be after document_date_to',
  });

/** An offer or an order confirmation. */
export const salesDocumentRow = z.object({
  id: z.int(),
  document_number: z.string(),
  type: z.enum(salesDocumentType.enumValues),
  status: z.enum(salesDocumentStatus.enumValues),
  document_date: z.string(),
  valid_until: z.string().nullable(),
  currency: z.string(),
  subtotal: z.number().describe('Without tax'),
  tax: z.number(),
  total: z.number(),
  converted_to_invoice_id: z.int().nullable(),
  customer: customerSnippet,
});

export const salesDocumentPage = pageOf(salesDocumentRow);

export type SalesDocumentFilters = z.infer<typeof salesDocumentFilters>;
export type SalesDocumentRow = z.infer<typeof salesDocumentRow>;
