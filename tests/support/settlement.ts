import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import type { Database } from '@/db/database';
import { auditLog, customers, invoices, paymentStatus, payments, paymentTombstones } from '@/db/schema';
import { type PaymentChanges, type PaymentInput, paymentInput, paymentUpdate } from '@/lib/payments/schema';
import { apiWriter, deletePayment, recordPayment, updatePayment } from '@/lib/payments/write-payment';
import type { TestRuntime } from './runtime';

/** Thousandths of a currency's unit. Every stored amount is a whole number of thousandths. */
type Thousandths = bigint;

export type ModelInvoice = ReturnType<typeof toModelInvoice>;
export type ModelPayment = Omit<ReturnType<typeof toModelPayment>, 'status' | 'source'> & {
  status: string;
  source: string;
};

/** The result of a write. A refusal has its error code and the invalid fields. */
export type WriteOutcome = 'created' | 'changed' | 'same' | 'deleted' | { code: string; fields: string[] };

const DECIMALS: Record<string, number> = { eur: 2, jpy: 0, kwd: 3 };
const LIMIT = 10n ** 15n;

/** A second implementation of the money rules of payments, without concurrency and without a database. */
export class PaymentModel {
  readonly payments = new Map<number, ModelPayment>();
  readonly tombstones = new Set<string>();

  constructor(
    readonly invoices: Map<number, ModelInvoice>,
    public now: Date,
    private readonly timeZone: string,
  ) {}

  /**
   * Records a payment, or changes the payment with the same reference.
   * @param newId the id for a new payment
   */
  record(input: PaymentInput, newId: number): WriteOutcome {
    const known = [...this.payments.values()].find((p) => p.payment_reference === input.payment_reference);
    if (known) return this.change(known.id, input);
    const refused = this.check(input, true);
    if (refused) return refused;
    const currency = this.invoices.get(input.invoice_id)?.currency ?? '';
    const status = input.status ?? 'completed';
    const amount = thousandths(String(input.amount));
    return this.replace(null, { ...input, id: newId, amount, currency, status, source: 'api' });
  }

  change(id: number, changes: PaymentChanges): WriteOutcome {
    const before = this.payments.get(id);
    if (!before) return { code: 'not_found', fields: [] };
    const wanted = { ...before, amount: Number(before.amount) / 1000, ...defined(changes) };
    const refused = this.check(wanted, wanted.invoice_id !== before.invoice_id);
    if (refused) return refused;
    const currency = this.invoices.get(wanted.invoice_id)?.currency ?? '';
    const after = { ...wanted, amount: thousandths(String(wanted.amount)), currency };
    if (currency !== before.currency && changes.amount === undefined) return invalid('amount');
    if (Object.entries(after).every(([field, value]) => before[field as keyof ModelPayment] === value)) {
      return 'same';
    }
    return this.replace(before, after);
  }

  remove(id: number): WriteOutcome {
    const before = this.payments.get(id);
    return before ? this.replace(before, null) : { code: 'not_found', fields: [] };
  }

  /** Derives an invoice's amounts and status from its payments. */
  settle(invoice: ModelInvoice): void {
    const paid = paidFor(invoice.id, [...this.payments.values()]);
    invoice.amount_paid = paid;
    const isOwed = invoice.status !== 'cancelled' && invoice.total > paid;
    invoice.amount_due = isOwed ? invoice.total - paid : 0n;
    if (['draft', 'cancelled'].includes(invoice.status)) return;
    if (paid >= invoice.total) {
      invoice.status = 'paid';
      invoice.paid_at ??= this.now.toISOString();
    } else {
      invoice.status = this.isPastDue(invoice) ? 'overdue' : 'sent';
      invoice.paid_at = null;
    }
  }

  /** Marks our own invoices as overdue if they are past due, as the daily reconciliation does. */
  night(): void {
    for (const invoice of this.invoices.values()) {
      if (!invoice.isManaged && invoice.status === 'sent' && this.isPastDue(invoice))
        invoice.status = 'overdue';
    }
  }

  private check(
    payment: { invoice_id: number; customer_id: number; amount: number },
    isNew: boolean,
  ): WriteOutcome | null {
    const invoice = this.invoices.get(payment.invoice_id);
    if (!invoice) return invalid('invoice_id');
    const fields = [
      isNew && ['draft', 'cancelled'].includes(invoice.status) && 'invoice_id',
      invoice.customer_id !== payment.customer_id && 'customer_id',
      decimalsOf(payment.amount) > (DECIMALS[invoice.currency] ?? 0) && 'amount',
    ].filter((field) => field !== false);
    return fields.length > 0 ? invalid(...fields) : null;
  }

  private replace(before: ModelPayment | null, after: ModelPayment | null): WriteOutcome {
    const others = [...this.payments.values()].filter((payment) => payment.id !== before?.id);
    if (after && others.some((payment) => payment.payment_reference === after.payment_reference)) {
      return { code: 'conflict', fields: ['payment_reference'] };
    }
    const rows = after ? [...others, after] : others;
    const touched = [...this.invoices.values()].filter(
      ({ id, isManaged }) => !isManaged && [before?.invoice_id, after?.invoice_id].includes(id),
    );
    if (touched.some(({ id }) => paidFor(id, rows) >= LIMIT)) return invalid('amount');
    if (before) this.payments.delete(before.id);
    if (after) this.payments.set(after.id, after);
    if (before?.source === 'stripe' && before.payment_reference !== after?.payment_reference) {
      this.tombstones.add(before.payment_reference);
    }
    for (const invoice of touched) this.settle(invoice);
    if (!before) return 'created';
    return after ? 'changed' : 'deleted';
  }

  private isPastDue({ due_date }: ModelInvoice): boolean {
    const today = this.now.toLocaleDateString('sv-SE', { timeZone: this.timeZone });
    return due_date !== null && due_date < today;
  }
}

/** Converts decimal text with at most three decimals to thousandths. */
export function thousandths(text: string): Thousandths {
  const [whole = '0', decimals = ''] = text.split('.');
  const value = BigInt(whole.replace('-', '') + decimals.slice(0, 3).padEnd(3, '0'));
  return whole.startsWith('-') ? -value : value;
}

function decimalsOf(amount: number): number {
  const text = String(amount);
  return text.includes('e') ? Number.POSITIVE_INFINITY : (text.split('.')[1] ?? '').length;
}

function paidFor(invoiceId: number, payments: ModelPayment[]): Thousandths {
  return payments
    .filter(({ invoice_id, status }) => invoice_id === invoiceId && status === 'completed')
    .reduce((sum, { amount }) => sum + amount, 0n);
}

function invalid(...fields: string[]): WriteOutcome {
  return { code: 'validation_failed', fields };
}

function defined<Value extends object>(value: Value) {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as {
    [Key in keyof Value]: Exclude<Value[Key], undefined>;
  };
}

/** The customer in a write: the invoice's own, another one, or one that does not exist. */
const customer = fc.oneof(
  { weight: 12, arbitrary: fc.constant('own' as const) },
  fc.constantFrom('other' as const, 'none' as const),
);
/** Index of an invoice in the ledger, modulo the number of invoices. Null for an invoice that does not exist. */
const invoice = fc.option(fc.nat(30), { freq: 20 });
/** Index of a payment in the ledger, modulo the number of payments. Null for a payment that does not exist. */
const target = fc.option(fc.nat(30), { freq: 20 });
const amount = fc.oneof(
  fc.integer({ min: 1, max: 15_000 }).map((cents) => cents / 100),
  fc.constantFrom(0.1, 0.2, 0.3, 119, 118.99, 119.01, 80, 1200, 600, 10.125, 10.124, 0.001, 12.345, 1e-7),
  fc.constantFrom(1, 999_999_999_999),
);
const payment_date = fc.constantFrom('2026-01-31', '2026-03-10', '2027-12-24');
const payment_reference = fc.constantFrom('R1', 'R2', 'R3', 'R4', 'R5', 'in_paid');
const status = fc.constantFrom(...paymentStatus.enumValues);

const post = fc.record(
  { do: fc.constant('post' as const), invoice, customer, amount, payment_date, payment_reference, status },
  { requiredKeys: ['do', 'invoice', 'customer', 'amount', 'payment_date', 'payment_reference'] },
);
const patch = fc
  .record(
    {
      do: fc.constant('patch' as const),
      target,
      invoice,
      customer,
      amount,
      payment_date,
      payment_reference,
      status,
    },
    { requiredKeys: ['do', 'target'] },
  )
  .filter((given) => Object.keys(given).length > 2);
/** Sends the fields of a payment again, unchanged. */
const repeat = fc.record({ do: fc.constant('repeat' as const), target: fc.nat(30) });
const remove = fc.record({ do: fc.constant('delete' as const), target });
const clock = fc.record({
  do: fc.constant('clock' as const),
  hours: fc.nat(24 * 14),
  /** Whether the daily reconciliation also runs. */
  night: fc.boolean(),
});

/** Draws a write of one payment. */
export const write = fc.oneof(
  { weight: 5, arbitrary: post },
  { weight: 7, arbitrary: patch },
  { weight: 3, arbitrary: fc.oneof(remove, repeat) },
);
export type Write = typeof write extends fc.Arbitrary<infer Value> ? Value : never;

/** Draws a write or an advance of the clock. */
export const step = fc.oneof({ weight: 9, arbitrary: write }, { weight: 1, arbitrary: clock });
export type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const NONE = 999_999;
export const TOKEN = { id: 1, name: 'Ledger' };
type NewInvoice = Partial<typeof invoices.$inferInsert>;

/** Invoices of every kind. The sixth belongs to another customer. */
const INVOICES: NewInvoice[] = [
  { total: '119', due_date: '2026-03-25' },
  { total: '119', due_date: '2026-03-10', status: 'overdue' },
  { total: '1200', due_date: '2026-04-05', currency: 'jpy' },
  { total: '10.125', due_date: null, currency: 'kwd' },
  { total: '0', due_date: '2026-03-15' },
  { total: '80', due_date: '2026-03-16', customer_id: 2 },
  { total: '-20', due_date: '2026-03-16' },
  { total: '50', due_date: null, status: 'draft', number: null },
  { total: '119', due_date: '2026-03-01', status: 'cancelled', amount_paid: '30', amount_due: '0' },
  { total: '30', due_date: '2026-03-01', stripe_invoice_id: 'in_open' },
  { total: '50', due_date: null, status: 'paid', amount_paid: '50', stripe_invoice_id: 'in_paid' },
  { total: '900', due_date: '2026-03-16', currency: 'jpy', stripe_invoice_id: 'in_yen' },
];

/** Empties the tables and inserts two customers, `INVOICES` and two payments. @returns a model of these rows */
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
  const ledger = await readLedger(db);
  const model = new PaymentModel(
    new Map(ledger.invoices.map((row) => [row.id, toModelInvoice(row)])),
    now(),
    env.timeZone,
  );
  for (const row of ledger.payments) model.payments.set(row.id, toModelPayment(row));
  return model;
}

/** Reads the rows that the tests compare after a write. */
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

/** Converts a write to a call, with ids instead of indexes. */
export function toCall(write: Write, ledger: Pick<Ledger, 'invoices' | 'payments'>): Call {
  if (write.do === 'post') return { verb: 'post', input: paymentInput.parse(toFields(write, ledger)) };
  const id = pick(ledger.payments, write.target);
  const payment = ledger.payments.find((row) => row.id === id);
  if (write.do === 'delete') return { verb: 'delete', id };
  if (write.do === 'repeat') {
    const { invoice_id, customer_id, payment_date, status } = payment ?? {};
    const amount = payment && Number(payment.amount);
    return { verb: 'patch', id, changes: { invoice_id, customer_id, amount, payment_date, status } };
  }
  return { verb: 'patch', id, changes: paymentUpdate.parse(toFields(write, ledger, payment?.invoice_id)) };
}

/** Performs a write through the function that the API calls. @returns the id of the payment */
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

export function toModelInvoice(row: Ledger['invoices'][number]) {
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

export function toModelPayment(row: Ledger['payments'][number]) {
  const { id, invoice_id, customer_id, currency, payment_date, payment_reference, status, source } = row;
  const amount = thousandths(row.amount);
  return { id, invoice_id, customer_id, amount, currency, payment_date, payment_reference, status, source };
}
