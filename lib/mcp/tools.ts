import { z } from 'zod';
import type { Database } from '@/db/database';
import { findCustomers, findCustomersByNumber } from '../customers/find-customers';
import { getCustomer } from '../customers/queries';
import { customerId, customerMatches, customerQuery, customerRow } from '../customers/schema';
import { AppError } from '../errors';
import { textLine } from '../fields';
import { invoiceSums, listInvoices, summarizeInvoices } from '../invoices/list';
import { sumUnpaidInvoices } from '../invoices/queries';
import { invoiceFilters, invoiceRow, unpaidInvoices } from '../invoices/schema';
import { MAX_PER_PAGE } from '../page';
import {
  documentSums,
  listOpenSalesDocuments,
  listSalesDocuments,
  salesDocumentFilters,
  salesDocumentRow,
  summarizeSalesDocuments,
} from '../sales-documents/queries';
import { listServers, serverRow } from '../servers/queries';
import {
  listServices,
  serviceFilters,
  serviceRow,
  serviceSums,
  summarizeServices,
} from '../services/queries';
import { listTasksOf } from '../tasks/staff-tasks';
import type { Caller } from './authenticate';
import {
  defineListTool,
  defineTool,
  fieldsArgument,
  MAX_CHARACTERS,
  pickFields,
  requireColumns,
  TOKEN_CHARACTERS,
  type Tool,
} from './define-tool';

const ONLY_NUMBERS =
  'No customer number begins with this text. This access hides personal data, so names and e-mail addresses are not searched: ask for the customer number.';

export const findCustomerTool = defineTool({
  name: 'find-customer-tool',
  title: 'Find customer',
  scope: 'customers:read',
  description:
    "Finds customers by part of their number, e-mail, name or company. Use it first, unless you have a customer id. At most 25 matches, best first; if truncated, ask with a longer text. Give a match's id to get-customer-tool or as customer_id to the list tools.",
  input: z.strictObject({ query: customerQuery }),
  output: customerMatches,
  run: async (db, { query }, { masked }) => {
    if (!masked) return findCustomers(db, query);
    // A caller could discover masked fields by searching for longer and longer parts of them.
    const found = await findCustomersByNumber(db, query);
    if (found.count === 0) throw new AppError('not_found', ONLY_NUMBERS);
    return found;
  },
});

const input = z
  .strictObject({
    id: customerId.optional(),
    customer_number: textLine(100).optional().describe('The whole number, in any case.'),
  })
  .refine((by) => (by.id === undefined) !== (by.customer_number === undefined), {
    message: 'Give exactly one of id or customer_number.',
  });

/** Number of characters of an answer that stay free for the placeholders of masked fields. */
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

/** Drops the last services and sales documents until the answer fits the limit. Their totals still count all. */
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

const listServicesTool = defineListTool({
  name: 'list-services-tool',
  title: 'List services',
  scope: 'customers:read',
  description:
    'Lists what customers rent (hosting, domains, servers, licences), by service number, each with its customer. For totals ask with summary true. While has_more, ask for page next_page.',
  filters: serviceFilters,
  personalFilters: ['domain'],
  row: serviceRow,
  list: listServices,
  summarize: summarizeServices,
  summaryRow: serviceSums,
  withoutMoney: withoutPrice,
});

export const listInvoicesTool = defineListTool({
  name: 'list-invoices-tool',
  title: 'List invoices',
  scope: 'billing:read',
  description:
    'Lists invoices, newest invoice_date first, each with its customer. Unpaid: status sent or overdue, ask for each. For totals ask with summary true. While has_more, ask for page next_page.',
  filters: invoiceFilters,
  row: invoiceRow,
  list: listInvoices,
  summarize: summarizeInvoices,
  summaryRow: invoiceSums,
});

const listSalesDocumentsTool = defineListTool({
  name: 'list-sales-documents-tool',
  title: 'List sales documents',
  scope: 'billing:read',
  description:
    'Lists offers and order confirmations, newest document_date first, each with its customer; converted_to_invoice_id is the invoice that it became. For totals ask with summary true. While has_more, ask for page next_page.',
  filters: salesDocumentFilters,
  row: salesDocumentRow,
  list: listSalesDocuments,
  summarize: summarizeSalesDocuments,
  summaryRow: documentSums,
});

/** The number of servers above which an answer explains how to ask for less. */
const MANY = 100;

/** The largest limit that clients let a tool announce, in characters. */
const MOST_CHARACTERS = 500_000;

const listServersTool = defineTool({
  name: 'list-servers-tool',
  title: 'List servers',
  scope: 'servers:read',
  description:
    'Lists every server by hostname: addresses, stack, operating system, hardware, control panel, status. The server_id of a service is the id of one.',
  input: z.strictObject({ fields: fieldsArgument }),
  maxCharacters: MOST_CHARACTERS,
  output: z.object({
    hint: z.string().optional(),
    count: z.int(),
    data: z.array(serverRow),
    has_more: z.boolean(),
  }),
  run: async (db, { fields }) => {
    if (fields) requireColumns(fields, serverRow);
    const data = await listServers(db);
    const rows = fields ? data.map((row) => pickFields(row, fields) as (typeof data)[number]) : data;
    const answer = { count: data.length, data: rows, has_more: false };
    return fields || rows.length <= MANY ? answer : { hint: hintFor(rows), ...answer };
  },
});

/** Returns a sentence that explains how to get a shorter answer, since the list of servers has no pages. */
function hintFor(rows: object[]): string {
  const tokens = Math.round(JSON.stringify(rows).length / TOKEN_CHARACTERS / 100) * 100;
  return `These are ${rows.length} servers, about ${tokens.toLocaleString('en-GB')} tokens. For less, ask again with fields, such as ["id","hostname","status"].`;
}

/** Removes the amounts from a service or from a sum of services. */
function withoutPrice<Row extends Record<string, unknown>>({
  price: _,
  currency: __,
  price_total: ___,
  ...row
}: Row) {
  return row;
}

/** All tools in the order of tools/list, which clients see. */
export const TOOLS: readonly Tool[] = [
  findCustomerTool,
  getCustomerTool,
  listServicesTool,
  listInvoicesTool,
  listSalesDocumentsTool,
  listServersTool,
];

/** Lists the tools that a caller may use. */
export function listTools({ reads }: Pick<Caller, 'reads'>): { tools: Tool['wire'][] } {
  return { tools: TOOLS.filter(({ scope }) => reads.includes(scope)).map(({ wire }) => wire) };
}
