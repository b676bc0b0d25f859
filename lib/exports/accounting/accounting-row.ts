import { customers, invoices } from '@/db/schema';
import { customerName } from '../../customers/snippet';

/** The columns of the accounting export, in their order. */
export const ACCOUNTING_COLUMNS = [
  'record', // invoice, payment or refund
  'date',
  'customer_number',
  'customer_name',
  'invoice_number',
  'status',
  'due_date',
  'tax_rate',
  'net',
  'tax',
  'gross',
  'currency',
  'amount_credited',
  'payment_reference',
  'method',
] as const;

type AccountingRow = Record<(typeof ACCOUNTING_COLUMNS)[number], string | number | null>;

/** Days of a month: `until` is the first of the next. */
export interface Days {
  from: string;
  until: string;
}

/** Whom a row is about, for a select. */
export const ofWhom = {
  customer_number: customers.customer_number,
  first_name: customers.first_name,
  last_name: customers.last_name,
  company: customers.company,
  invoice_number: invoices.number,
};

type Whom = Pick<
  typeof customers.$inferSelect,
  'customer_number' | 'first_name' | 'last_name' | 'company'
> & {
  invoice_number: string | null;
};

/** A row of the file, with what it has of the other columns. */
export function toAccountingRow(whom: Whom, rest: Partial<AccountingRow>): Partial<AccountingRow> {
  const { customer_number, invoice_number } = whom;
  return { ...rest, customer_number, customer_name: customerName(whom), invoice_number };
}
