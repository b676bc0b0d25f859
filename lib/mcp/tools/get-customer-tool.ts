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
import { listTasksOf } from '@/lib/tasks/staff-tasks';
import { defineTool, MAX_CHARACTERS } from '../define-tool';
import { withoutPrice } from '../without-price';

const input = z
  .strictObject({
    id: customerId.optional(),
    customer_number: textLine(100).optional().describe('The whole number, in any case.'),
  })
  .refine((by) => (by.id === undefined) !== (by.customer_number === undefined), {
    message: 'Give exactly one of id or customer_number.',
  });

/** Of characters, for what hiding personal data puts in place of names. */
const MARGIN = 5000;

const output = z.object({
  ...customerRow.shape,
  unpaid_invoices: unpaidInvoices,
  open_sales_documents_total: z.int(),
  open_sales_documents: z
    .array(salesDocumentRow.omit({ customer: true }))
    .describe(`Draft, sent or accepted; the newest ${MAX_PER_PAGE}`),
  open_tasks: z.array(z.string()),
  services_total: z.int(),
  services: z.array(serviceRow.omit({ customer: true })).describe(`Active; the first ${MAX_PER_PAGE}`),
});

export const getCustomerTool = defineTool({
  name: 'get-customer-tool',
  title: 'Get customer',
  scope: 'customers:read',
  description:
    'Everything about one customer: contact details, active services, open offers and order confirmations, and the sum of unpaid (sent or overdue) invoices. Give id or customer_number. For other services, invoices or older documents use the list tools.',
  input,
  output,
  maxCharacters: MAX_CHARACTERS,
  run: async (db, by, { reads }) => {
    const customer = await getCustomer(db, toKey(by));
    if (!customer) throw new AppError('not_found', notFound(by));
    const mayReadBills = reads.includes('billing:read');
    const [bills, services] = await Promise.all([
      mayReadBills ? readBills(db, customer) : {},
      readServices(db, customer, mayReadBills),
    ]);
    return withinLimit({ ...customer, ...bills, ...services });
  },
});

function toKey(by: z.output<typeof input>): { id: number } | { customer_number: string } {
  return by.id === undefined ? { customer_number: by.customer_number ?? '' } : { id: by.id };
}

async function readBills(db: Database, customer: { id: number; currency: string }) {
  const [unpaid, documents, tasks] = await Promise.all([
    sumUnpaidInvoices(db, customer),
    listOpenSalesDocuments(db, customer.id),
    listTasksOf(db, 'customer', customer.id),
  ]);
  return {
    unpaid_invoices: unpaid,
    open_tasks: tasks.map(({ message }) => message),
    open_sales_documents_total: documents.total,
    open_sales_documents: documents.data.map(withoutCustomer),
  };
}

async function readServices(db: Database, { id }: { id: number }, mayReadBills: boolean) {
  const found = await listServices(db, { customer_id: id, status: 'active', per_page: MAX_PER_PAGE });
  const services = found.data.map(withoutCustomer);
  return {
    services_total: found.total,
    services: mayReadBills ? services : (services.map(withoutPrice) as typeof services),
  };
}

function withoutCustomer<Row extends { customer: unknown }>({ customer: _, ...row }: Row) {
  return row;
}

function notFound({ id, customer_number }: z.output<typeof input>): string {
  const key = id === undefined ? `customer_number ${customer_number}` : `id ${id}`;
  return `No customer with ${key}. Use find-customer-tool to search by name or e-mail.`;
}

/** Leaves out the last rows of lists that have a total, until the answer is short enough. */
function withinLimit<Answer extends { services: unknown[]; open_sales_documents?: unknown[] }>(
  answer: Answer,
): Answer {
  const excess = JSON.stringify(answer).length / (MAX_CHARACTERS - MARGIN);
  const { services, open_sales_documents: documents } = answer;
  if (excess <= 1 || services.length + (documents?.length ?? 0) === 0) return answer;
  const cut = <Row>(rows: Row[]) => rows.slice(0, Math.floor(rows.length / excess));
  return withinLimit({
    ...answer,
    services: cut(services),
    ...(documents && { open_sales_documents: cut(documents) }),
  });
}
