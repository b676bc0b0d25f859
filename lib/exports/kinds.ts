import { eq } from 'drizzle-orm';
import { customerServices, customers, invoices, payments, salesDocuments, servers } from '@/db/schema';
import { customerKind } from '../customers/save-customers';
import { serverKind } from '../servers/save-servers';
import { serviceKind } from '../services/save-services';
import { type ExportKind, fieldsOf, pick } from './export-kind';

const { customer_number } = customers;
const { hostname } = servers;

const OF_INVOICES = [
  'number',
  'status',
  'customer_number',
  'invoice_date',
  'due_date',
  'currency',
  'subtotal',
  'tax',
  'total',
  'amount_paid',
  'amount_due',
  'paid_at',
  'amount_credited',
  'stripe_invoice_id',
];
const OF_SALES_DOCUMENTS = [
  'document_number',
  'type',
  'status',
  'customer_number',
  'document_date',
  'valid_until',
  'currency',
  'subtotal',
  'tax',
  'total',
];
const OF_PAYMENTS = [
  'payment_reference',
  'invoice_number',
  'customer_number',
  'amount',
  'currency',
  'payment_date',
  'status',
];

/** What can be exported, in the order in which it is imported again. */
export const EXPORT_KINDS = {
  customers: { table: customers, columns: pick(customers, fieldsOf(customerKind)) },
  servers: { table: servers, columns: pick(servers, fieldsOf(serverKind)) },
  services: {
    table: customerServices,
    columns: pick(customerServices, fieldsOf(serviceKind), { customer_number, hostname }),
    joins: [
      { table: customers, on: eq(customers.id, customerServices.customer_id) },
      { table: servers, on: eq(servers.id, customerServices.server_id) },
    ],
  },
  'sales-documents': {
    table: salesDocuments,
    columns: pick(salesDocuments, OF_SALES_DOCUMENTS, { customer_number }),
    joins: [{ table: customers, on: eq(customers.id, salesDocuments.customer_id) }],
  },
  invoices: {
    table: invoices,
    columns: pick(invoices, OF_INVOICES, { customer_number }),
    joins: [{ table: customers, on: eq(customers.id, invoices.customer_id) }],
  },
  payments: {
    table: payments,
    columns: pick(payments, OF_PAYMENTS, { customer_number, invoice_number: invoices.number }),
    joins: [
      { table: invoices, on: eq(invoices.id, payments.invoice_id) },
      { table: customers, on: eq(customers.id, payments.customer_id) },
    ],
  },
} as const satisfies Record<string, ExportKind>;

export type ExportName = keyof typeof EXPORT_KINDS;

export const EXPORT_NAMES = Object.keys(EXPORT_KINDS) as ExportName[];
