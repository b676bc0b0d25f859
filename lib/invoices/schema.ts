import { z } from 'zod';
import { invoiceStatus } from '@/db/schema';
import { customerIdFilter, customerSnippet, wholeId } from '../customers/schema';
import { calendarDate, listFilters, oneOf, searchLine, someOf } from '../fields';
import { pageOf } from '../page';

export const invoiceFilters = listFilters(
  {
    customer_id: customerIdFilter,
    status: oneOf(invoiceStatus.enumValues).optional(),
    statuses: someOf(invoiceStatus.enumValues).optional(),
    number: searchLine(100).optional().describe('The whole number.'),
    id: wholeId.optional(),
    invoice_date_from: calendarDate.optional(),
    invoice_date_to: calendarDate.optional(),
    due_date_from: calendarDate.optional(),
    due_date_to: calendarDate.optional(),
  },
  ...['invoice_date', 'due_date'],
);

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
  paid_at: z.string().nullable(),
  stripe_invoice_id: z.string().nullable(),
  customer: customerSnippet,
});

export const invoicePage = pageOf(invoiceRow);

const unpaid = z.object({
  currency: z.string(),
  count: z.int(),
  total: z.number().describe('Sum of amount_due'),
});

/** Count and amount due of the unpaid invoices in one currency. */
export const unpaidSums = z.object({ currency: z.string(), count: z.int(), amount_due: z.number() });

/** Sums of sent and overdue invoices per currency. The customer's own currency comes first if it has such invoices. */
export const unpaidInvoices = z.object({
  ...unpaid.shape,
  other_currencies: z.array(unpaid),
});

export type InvoiceFilters = z.infer<typeof invoiceFilters>;
export type InvoiceRow = z.infer<typeof invoiceRow>;
export type UnpaidInvoices = z.infer<typeof unpaidInvoices>;
