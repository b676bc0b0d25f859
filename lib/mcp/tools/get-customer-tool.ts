import { z } from 'zod';
import type { Database } from '@/db/database';
import { getCustomer } from '@/lib/customers/queries';
import { customerId, customerRow } from '@/lib/customers/schema';
import { AppError } from '@/lib/errors';
import { textLine } from '@/lib/fields';
import { sumUnpaidInvoices } from '@/lib/invoices/queries';
import { unpaidInvoices } from '@/lib/invoices/schema';
import { MAX_PER_PAGE } from '@/lib/page';
import { listOpenSalesDocuments } from '@/lib/sales-documents/queries';
import { salesDocumentRow } from '@/lib/sales-documents/schema';
import { listServices } from '@/lib/services/queries';
import { serviceRow } from '@/lib/services/schema';
import { defineTool } from '../define-tool';

const input = z
  .strictObject({
    id: customerId.optional(),
    customer_number: textLine(100).optional().describe('The whole number, in any case.'),
  })
  .refine((by) => (by.id === undefined) !== (by.customer_number === undefined), {
    message: 'Give exactly one of id or customer_number.',
  });

const output = z.object({
  ...customerRow.shape,
  unpaid_invoices: unpaidInvoices,
  open_sales_documents_total: z.int(),
  open_sales_documents: z
    .array(salesDocumentRow.omit({ customer: true }))
    .describe(`Draft, sent or accepted; the newest ${MAX_PER_PAGE}`),
  services_total: z.int(),
  services: z.array(serviceRow.omit({ customer: true })).describe(`Active; the first ${MAX_PER_PAGE}`),
});

export const getCustomerTool = defineTool({
  name: 'get-customer-tool',
  title: 'Get customer',
  description:
    'Everything about one customer: master data, active services, open offers and order confirmations, and the sum of unpaid (sent or overdue) invoices. Give exactly one of id or customer_number; find-customer-tool finds either. For other services, single invoices or older documents use the list tools with customer_id.',
  input,
  output,
  run: async (db, by) => {
    const customer = await getCustomer(db, toKey(by));
    if (!customer) throw new AppError('not_found', notFound(by));
    return { ...customer, ...(await readDetails(db, customer)) };
  },
});

function toKey(by: z.output<typeof input>): { id: number } | { customer_number: string } {
  return by.id === undefined ? { customer_number: by.customer_number ?? '' } : { id: by.id };
}

async function readDetails(db: Database, customer: { id: number; currency: string }) {
  const [unpaid, documents, services] = await Promise.all([
    sumUnpaidInvoices(db, customer),
    listOpenSalesDocuments(db, customer.id),
    listServices(db, { customer_id: customer.id, status: 'active', per_page: MAX_PER_PAGE }),
  ]);
  return {
    unpaid_invoices: unpaid,
    open_sales_documents_total: documents.total,
    open_sales_documents: documents.data,
    services_total: services.total,
    services: services.data,
  };
}

function notFound({ id, customer_number }: z.output<typeof input>): string {
  const key = id === undefined ? `customer_number ${customer_number}` : `id ${id}`;
  return `No customer with ${key}. Use find-customer-tool to search by name or e-mail.`;
}
