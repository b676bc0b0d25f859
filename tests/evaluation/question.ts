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

export type Arguments = Record<string, unknown>;

/** A call of a tool. Its arguments may depend on the answer of the call before it. */
export type Call = [tool: string, args: Arguments | ((previous: Answer) => Arguments)];

interface Answerable {
  /** The shortest sequence of calls that answers the question. */
  plan: Call[];
  /**
   * Reads the figure from the answer of the last call. If the figure also needs the first call, reads that answer too.
   */
  figure(last: Answer, first: Answer): Figure;
  /**
   * SQL on the tables and on `TABLES` that computes the figure without the product's code. If the query returns no row,
   * the figure is `none`.
   */
  golden: string;
}

interface Unanswerable {
  /**
   * Regular expression for the data that the tools lack. It must not match the response of tools/list, ignoring case.
   */
  missing: string;
}

export type Question = { id: string; language: 'de' | 'en'; text: string } & (
  | (Answerable & { kind: 'lookup' | 'total' | 'steps' | 'none' | 'hidden' })
  | (Unanswerable & { kind: typeof CANNOT_TELL; plan: [] })
);

type Declared<Kind> = ({ de: string } | { en: string }) &
  (Kind extends typeof CANNOT_TELL ? Unanswerable : Answerable);

/** Makes questions from their declarations by kind and id. The text is declared under its language. */
export function declareQuestions(
  byKind: {
    [Kind in Question['kind']]?: Record<string, Declared<Kind>>;
  },
): Question[] {
  return Object.entries(byKind).flatMap(([kind, byId]) =>
    Object.entries(byId).map(([id, declared]) => {
      const [language, text] = 'de' in declared ? ['de', declared.de] : ['en', declared.en];
      return { plan: [], ...declared, id, kind, language, text } as Question;
    }),
  );
}

interface Customer {
  id: number;
  customer_number: string;
  email: string;
}

type BilledText = 'number' | 'paid_at' | 'document_number' | 'valid_until' | 'status';
type RentedText = 'service_number' | 'service_type' | 'next_billing_date' | 'cancelled_at';
export type TextColumn = BilledText | RentedText | 'hostname' | 'operating_system' | 'location';
export type NumberColumn =
  | 'id'
  | 'amount_due'
  | 'price'
  | 'server_id'
  | 'converted_to_invoice_id'
  | 'cpu_cores';

/** The columns that figures read from the rows of list tools. */
type Row = Record<TextColumn, string> & Record<NumberColumn, number> & { customer: Customer; ipv4: string[] };

type Sum = Record<'currency' | 'billing_interval', string> &
  Record<'total' | 'amount_paid' | 'amount_due' | 'price_total', number>;

/** The fields of the tools' answers that plans and figures read. */
export interface Answer extends Customer {
  total: number;
  data: Row[];
  summary: Sum[];
  unpaid: Sum[];
  by_customer: { customer: Customer; currency: string; count: number; oldest_due_date: string }[];
  matches: Customer[];
  similar?: Customer[];
  vat_id: string;
  unpaid_invoices: { total: number };
  open_sales_documents: Row[];
  open_sales_documents_total: number;
  services: Row[];
  services_by_status: Record<string, number>;
}

/** Common table expressions for customers and for their invoices, services and sales documents. */
const TABLES = `with people as (
    select id as person, customer_number, email, company, first_name || ' ' || last_name as full_name from customers),
  billed as (
    select *, status in ('sent', 'overdue') as is_unpaid,
      (paid_at at time zone '${TIME_ZONE}')::date::text as paid_on
    from invoices join people on person = customer_id),
  rented as (
    select v.*, p.*, m.hostname, m.operating_system, v.status = 'active' as is_active
    from customer_services v join people p on person = customer_id left join servers m on m.id = v.server_id),
  offered as (
    select d.*, p.*, i.number as invoice_number, i.paid_on, d.status in ('draft', 'sent', 'accepted') as is_open
    from sales_documents d join people p on person = d.customer_id left join billed i on i.id = converted_to_invoice_id)`;

/** Computes the figure of a question directly from the tables. */
export async function readGolden(db: Database, { golden }: Pick<Answerable, 'golden'>): Promise<Figure> {
  const [row] = await rows<Record<string, Figure>>(db, sql.raw(`${TABLES} ${golden}`));
  const [figure] = Object.values(row ?? {});
  return figure ?? NONE;
}
