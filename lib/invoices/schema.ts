import { z } from 'zod';
import { invoiceStatus } from '@/db/schema';
import { customerIdFilter, customerSnippet } from '../customers/schema';
import { calendarDate, oneOf } from '../fields';
import { pageFields, pageOf } from '../page';

export const invoiceFilters = z
  .strictObject({
    customer_id: customerIdFilter,
    status: oneOf(invoiceStatus.enumValues).optional(),
    invoice_date_from: calendarDate.optional().describe('Inclusive.'),
    invoice_date_to: calendarDate.optional().describe('Inclusive.'),
    ...pageFields,
  })
  .refine((f) => !f.invoice_date_from || !f.invoice_date_to || f.invoice_date_from <= f.invoice_date_to, {
    path: ['invoice_date_from'],
    message: 'must not be after invoice_date_to',
  });

export const invoiceRow = z.object({
  id: z.int(),
  number: z.string().nullable().describe('Null on drafts'),
  status: z.enum(invoiceStatus.enumValues),
  invoice_date: z.string(),
  due_date: z.string().nullable(),
  currency: z.string(),
  subtotal: z.number().describe('Without tax'),
  tax: z.number(),
  total: z.number(),
  amount_paid: z.number(),
  amount_due: z.number(),
  stripe_invoice_id: z.string().nullable(),
  customer: customerSnippet,
});

export const invoicePage = pageOf(invoiceRow);

const unpaid = z.object({
  currency: z.string(),
  count: z.int(),
  total: z.number().describe('Sum of amount_due'),
});

/** Sums of sent, unpaid invoices, including overdue ones: first of one currency, then of the others. */
export const unpaidInvoices = z.object({
  ...unpaid.shape,
  other_currencies: z.array(unpaid),
});

export type InvoiceFilters = z.infer<typeof invoiceFilters>;
export type InvoiceRow = z.infer<typeof invoiceRow>;
export type UnpaidInvoices = z.infer<typeof unpaidInvoices>;
