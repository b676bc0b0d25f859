import { sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { auditLog, customers, invoices, payments, paymentTombstones } from '@/db/schema';
import { apiWriter } from '@/lib/payments/api-writer';
import { deletePayment } from '@/lib/payments/delete-payment';
import { recordPayment } from '@/lib/payments/record-payment';
import { type PaymentChanges, type PaymentInput, paymentInput, paymentUpdate } from '@/lib/payments/schema';
import { updatePayment } from '@/lib/payments/update-payment';
import type { TestRuntime } from '../runtime';
import { type ModelInvoice, type ModelPayment, PaymentModel, thousandths } from './model';
import type { Write } from './steps';

const NONE = 999_999;
export const TOKEN = { id: 1, name: 'Ledger' };
type NewInvoice = Partial<typeof invoices.$inferInsert>;

/** Invoices of every kind; the sixth is another customer's. */
const INVOICES: NewInvoice[] = [
  { total: '119', due_date: '2026-03-25' },
  { total: '119', due_date: '2026-03-10', status: 'overdue' },
  { total: '1200', due_date: '2026-04-05', currency: 'jpy' },
  { total: '10.125', due_date: null, currency: 'kwd' },
  { total: '0', due_date: '2026-03-15' },
  { total: '80', due_date: '2026-03-16', customer_id: 2 },
  { total: '-20', due_date: '2026-03-16' },
  { total: '50', due_date: null, status: 'draft', number: null },
  { total: '119', due_date: '2026-03-01', status: 'cancelled', amount_paid: '30', amount_due: '89' },
  { total: '30', due_date: '2026-03-01', stripe_invoice_id: 'in_open' },
  { total: '50', due_date: null, status: 'paid', amount_paid: '50', stripe_invoice_id: 'in_paid' },
  { total: '900', due_date: '2026-03-16', currency: 'jpy', stripe_invoice_id: 'in_yen' },
];

/** Empties the tables and fills them with the invoices above and two payments. */
export async function openLedger({ db, now, env }: TestRuntime): Promise<PaymentModel> {
  await db.execute(sql`truncate customers, invoices, payments, payment_tombstones, audit_log,
    reconciliation_runs restart identity cascade`);
  await db
    .insert(customers)
    .values(['Ada', 'Bob'].map((name) => ({ customer_number: name, first_name: name })));
  const dated = { customer_id: 1, status: 'sent' as const, invoice_date: '2026-03-01' };
  await db.insert(invoices).values(
    INVOICES.map((invoice, i) => {
      const total = invoice.total ?? '0';
      return { ...dated, number: `R${i}`, subtotal: total, tax: '0', total, amount_due: total, ...invoice };
    }),
  );
  const paid = { customer_id: 1, payment_date: '2026-03-02', currency: 'eur' };
  await db.insert(payments).values([
    { ...paid, invoice_id: 9, amount: '30', payment_reference: 'R0', source: 'api' },
    {
      ...paid,
      invoice_id: 11,
      amount: '50',
      payment_reference: 'in_paid',
      source: 'stripe',
      provider_amount: '50',
    },
  ]);
  const held = await readLedger(db);
  const model = new PaymentModel(
    new Map(held.invoices.map((row) => [row.id, toModelInvoice(row)])),
    now(),
    env.timeZone,
  );
  for (const row of held.payments) model.payments.set(row.id, toModelPayment(row));
  return model;
}

/** Everything that a write may change. */
export async function readLedger(db: Database) {
  return {
    invoices: await db.select().from(invoices).orderBy(invoices.id),
    payments: await db.select().from(payments).orderBy(payments.id),
    tombstones: await db.select().from(paymentTombstones).orderBy(paymentTombstones.reference),
    audit: await db.select().from(auditLog).orderBy(auditLog.id),
  };
}
export type Ledger = Awaited<ReturnType<typeof readLedger>>;

export type Call =
  | { verb: 'post'; input: PaymentInput }
  | { verb: 'patch'; id: number; changes: PaymentChanges }
  | { verb: 'delete'; id: number };

/** A write with the ids that its places stand for at present. */
export function toCall(write: Write, held: Pick<Ledger, 'invoices' | 'payments'>): Call {
  if (write.do === 'post') return { verb: 'post', input: paymentInput.parse(toFields(write, held)) };
  const id = pick(held.payments, write.target);
  const payment = held.payments.find((row) => row.id === id);
  if (write.do === 'delete') return { verb: 'delete', id };
  if (write.do === 'repeat') {
    const { invoice_id, customer_id, payment_date, status } = payment ?? {};
    const amount = payment && Number(payment.amount);
    return { verb: 'patch', id, changes: { invoice_id, customer_id, amount, payment_date, status } };
  }
  return { verb: 'patch', id, changes: paymentUpdate.parse(toFields(write, held, payment?.invoice_id)) };
}

/** Sends a write through the function that the API calls, and tells the id of the payment. */
export async function perform(runtime: TestRuntime, call: Call): Promise<number> {
  const writer = apiWriter(runtime, TOKEN);
  if (call.verb === 'post') return (await recordPayment(runtime.db, call.input, writer)).payment.id;
  if (call.verb === 'patch') await updatePayment(runtime.db, call.id, call.changes, writer);
  else await deletePayment(runtime.db, call.id, writer);
  return call.id;
}

function toFields(
  write: Extract<Write, { do: 'post' | 'patch' }>,
  { invoices }: Pick<Ledger, 'invoices'>,
  current = NONE,
) {
  const { do: _, invoice, customer, ...rest } = { target: null, ...write };
  const { target: __, ...fields } = rest;
  const invoice_id = invoice === undefined ? current : pick(invoices, invoice);
  const owner = invoices.find(({ id }) => id === invoice_id)?.customer_id ?? 1;
  return {
    ...fields,
    ...(invoice !== undefined && { invoice_id }),
    ...(customer && { customer_id: { own: owner, other: 3 - owner, none: NONE }[customer] }),
  };
}

function pick(rows: { id: number }[], place: number | null): number {
  return (place !== null && rows[place % rows.length]?.id) || NONE;
}

export function toModelInvoice(row: Ledger['invoices'][number]): ModelInvoice {
  const { id, customer_id, currency, due_date, status } = row;
  return {
    id,
    customer_id,
    currency,
    due_date,
    status,
    isManaged: row.stripe_invoice_id !== null,
    total: thousandths(row.total),
    amount_paid: thousandths(row.amount_paid),
    amount_due: thousandths(row.amount_due),
    paid_at: row.paid_at?.toISOString() ?? null,
  };
}

export function toModelPayment(row: Ledger['payments'][number]): ModelPayment {
  const { id, invoice_id, customer_id, currency, payment_date, payment_reference, status, source } = row;
  const amount = thousandths(row.amount);
  return { id, invoice_id, customer_id, amount, currency, payment_date, payment_reference, status, source };
}
