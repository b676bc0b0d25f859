import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';

/** The day on which the questions are asked. The sample data for this day is always the same. */
export const TODAY = '2026-11-21';
export const TIME_ZONE = 'Europe/Berlin';

/** The value that answers a question. Amounts are in major units, and days are YYYY-MM-DD. Lists may have any order. */
export type Figure = string | number | string[];

/** The answer to a question about a record that does not exist. */
export const NONE = 'none';

/** The answer to a question that the tools cannot answer. */
export const CANNOT_TELL = 'cannot tell';

type Arguments = Record<string, unknown>;

/** A call of a tool. Its arguments may depend on the answer of the call before it. */
type Call = [tool: string, args: Arguments | ((previous: Answer) => Arguments)];

interface BaseQuestion {
  id: string;
  language: 'de' | 'en';
  text: string;
}

export interface Answerable extends BaseQuestion {
  kind: 'lookup' | 'total' | 'steps' | 'none' | 'hidden';
  /** The shortest sequence of calls that answers the question. */
  plan: Call[];
  /**
   * Reads the figure from the answer of the last call. If the figure also needs the first call, reads that answer too.
   */
  figure(last: Answer, first: Answer): Figure;
  /** SQL that computes the figure without the product's code. If the query returns no row, the figure is `none`. */
  golden: string;
}

export interface Unanswerable extends BaseQuestion {
  kind: typeof CANNOT_TELL;
  plan: [];
  /**
   * Regular expression for the data that the tools lack. It must not match the response of tools/list, ignoring case.
   */
  missing: string;
}

export type Question = Answerable | Unanswerable;

interface Customer {
  id: number;
  customer_number: string;
  email: string;
}

/** The columns that figures read from the rows of list tools. */
interface Row {
  id: number;
  status: string;
  total: number;
  customer: Customer;
  number: string;
  amount_due: number;
  paid_at: string;
  service_number: string;
  service_type: string;
  server_id: number;
  price: number;
  next_billing_date: string;
  ends_on: string;
  cancelled_at: string;
  document_number: string;
  valid_until: string;
  converted_to_invoice_id: number;
  hostname: string;
  operating_system: string;
  location: string;
  cpu_cores: number;
  ipv4: string[];
}

interface Sum {
  currency: string;
  billing_interval: string;
  total: number;
  amount_paid: number;
  amount_due: number;
  price_total: number;
}

/** The fields of the tools' answers that plans and figures read. */
export interface Answer extends Customer {
  total: number;
  data: Row[];
  summary: Sum[];
  unpaid: Sum[];
  by_customer: { customer: Customer; currency: string; count: number; oldest_due_date: string }[];
  matches: Customer[];
  similar?: Customer[];
  phone: string;
  vat_id: string;
  unpaid_invoices: { total: number };
  open_sales_documents: Row[];
  open_sales_documents_total: number;
  services: Row[];
  services_total: number;
  services_by_status: Record<string, number>;
}

/**
 * Reads the only row of a list. Returns `NONE` if the list is empty.
 *
 * @throws Error if the list has several rows, because the question would be ambiguous
 */
export function only<One, Read>(list: One[], read: (one: One) => Read): Read | typeof NONE {
  const [one, ...others] = list;
  if (others.length > 0) throw new Error(`the answer has ${list.length} rows instead of one`);
  return one === undefined ? NONE : read(one);
}

/** Reads the first row of a list. Returns `NONE` if the list is empty. */
export function first<One, Read>(list: One[], read: (one: One) => Read): Read | typeof NONE {
  const [one] = list;
  return one === undefined ? NONE : read(one);
}

/** Adds up a column of the rows in a currency, without the rounding errors of binary fractions. */
export function sumOf(sums: Sum[], currency: string, read: (sum: Sum) => number): number {
  const amounts = sums.filter((sum) => sum.currency === currency).map(read);
  return Math.round(amounts.reduce((total, amount) => total + amount, 0) * 1000) / 1000;
}

/** Arguments that select the only customer that the previous call found. */
export const ofMatch = ({ matches }: Answer) => ({ customer_id: only(matches, ({ id }) => id) });

/** Computes the figure of a question directly from the tables. */
export async function readGolden(db: Database, { golden }: Answerable): Promise<Figure> {
  const [row] = await rows<Record<string, Figure>>(db, sql.raw(golden));
  const [figure] = Object.values(row ?? {});
  return figure ?? NONE;
}
