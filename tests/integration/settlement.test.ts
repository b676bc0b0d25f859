import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Database } from '@/db/database';
import { auditLog, customers, invoices, paymentStatus, payments, paymentTombstones } from '@/db/schema';
import { AppError } from '@/lib/errors';
import { settledAfter } from '@/lib/invoices/settle';
import { type PaymentChanges, type PaymentInput, paymentInput, paymentUpdate } from '@/lib/payments/schema';
import { apiWriter, deletePayment, recordPayment, updatePayment } from '@/lib/payments/write-payment';
import { reconcile } from '@/lib/sync/reconcile/reconcile';
import { syncDeps } from '@/lib/sync/sync-deps';
import { useDatabase } from '../support/database';
import { type TestRuntime, testRuntime } from '../support/runtime';

const RUNS = Number(process.env.W5T_FUZZ_RUNS ?? 12);
const SEED = Number(process.env.W5T_FUZZ_SEED ?? 20_260_321);
const LONGEST_MS = 60_000 + RUNS * 2_000;
const SPACE = { APP_TIMEZONE: 'Pacific/Auckland' }; // For half of each day, the local day is not the UTC day.
const TOKEN = { id: 1, name: 'Ledger' };

const base = useDatabase();

test.each([
  [0, 0],
  [0, 50],
  [0, 119],
  [50, 59],
  [50, 60],
  [50, 110],
  [59, 50],
])(
  'an invoice for 60 EUR that was imported as paid stays paid when its payments change from %s to %s EUR',
  (before, after) => {
    const imported = 60;
    const owed = { total: '60', amount_credited: '0', status: 'paid', due_date: null } as const;
    const failed = { payment_failed_at: null, uncollectible: false };
    const at = { today: '2026-03-15', now: new Date('2026-03-15T12:00:00Z') };
    const invoice = { ...owed, ...failed, paid_at: null, amount_paid: String(imported) };
    const settled = settledAfter(invoice, { before: 1000 * before, after: 1000 * after }, at);
    const amount_paid = Math.max(imported, after).toFixed(3);
    expect(settled).toEqual({ amount_paid, amount_due: '0.000', status: 'paid', paid_at: at.now });
  },
);

test(
  'after every write of a payment, invoices and payments are as a second implementation of the rules computes them',
  async () => {
    const steps = fc.array(step, { minLength: 1, maxLength: 40, size: 'max' });
    await fc.assert(
      fc.asyncProperty(steps, async (taken) => {
        const runtime = testRuntime(base.db, { env: SPACE });
        const model = await openLedger(runtime);
        let held = await readLedger(base.db);
        for (const one of taken) held = await take(runtime, model, held, one);
      }),
      { numRuns: RUNS, seed: SEED },
    );
  },
  LONGEST_MS,
);

/** Applies a step to the database and to the model, and compares the two. */
async function take(runtime: TestRuntime, model: PaymentModel, before: Ledger, one: Step): Promise<Ledger> {
  if (one.do === 'clock') {
    runtime.setNow(new Date(runtime.now().getTime() + one.hours * 3_600_000));
    model.now = runtime.now();
    if (one.night) await reconcile(syncDeps(runtime), { trigger: 'schedule', startedBy: null });
    if (one.night) model.night();
    const after = await readLedger(runtime.db);
    expectModel(model, after);
    expect(after.audit).toEqual(before.audit);
    return after;
  }
  const call = toCall(one, before);
  const { refused, id } = await outcomeOf(perform(runtime, call));
  const outcome = expected(model, call, id);
  const after = await readLedger(runtime.db);
  expect(refused ?? 'written').toEqual(typeof outcome === 'string' ? 'written' : outcome);
  expectModel(model, after);
  if (outcome === 'same' || refused) expect(after).toEqual(before);
  else expectWrite(before, after, outcome, id);
  return after;
}

/** Returns the id of the written payment, or the refusal. Other errors fail the test. */
async function outcomeOf(performed: Promise<number>) {
  try {
    return { id: await performed, refused: null };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { id: 0, refused: { code: error.code, fields: error.fields.map(({ field }) => field) } };
  }
}

function expected(model: PaymentModel, call: Call, newId: number): WriteOutcome {
  if (call.verb === 'post') return model.record(call.input, newId);
  return call.verb === 'patch' ? model.change(call.id, call.changes) : model.remove(call.id);
}

function expectModel(model: PaymentModel, held: Ledger): void {
  expect(held.invoices.map(toModelInvoice)).toEqual([...model.invoices.values()]);
  const stored = [...model.payments.values()].sort((a, b) => a.id - b.id);
  expect(held.payments.map(toModelPayment)).toEqual(stored);
  expect(held.tombstones.map(({ reference }) => reference)).toEqual([...model.tombstones].sort());
}

const ACTIONS = { created: 'payment.create', changed: 'payment.update', deleted: 'payment.delete' };

/**
 * Expects one audit entry with the payment before and after. Other payments, and invoices that the payment does not
 * settle, must be unchanged.
 */
function expectWrite(before: Ledger, after: Ledger, outcome: WriteOutcome, id: number): void {
  const [was, is] = [before, after].map((held) => held.payments.find((row) => row.id === id) ?? null);
  const entry = {
    action: ACTIONS[outcome as keyof typeof ACTIONS],
    ...{ actor_type: 'token', actor_id: String(TOKEN.id), actor_name: TOKEN.name },
    ...{ entity: 'payment', entity_id: id, before: json(was), after: json(is) },
  };
  expect(after.audit.slice(before.audit.length)).toEqual([expect.objectContaining(entry)]);
  expect(others(after.payments, [id])).toEqual(others(before.payments, [id]));
  const settled = before.invoices
    .filter((row) => [was?.invoice_id, is?.invoice_id].includes(row.id) && !row.stripe_invoice_id)
    .map((row) => row.id);
  expect(others(after.invoices, settled)).toEqual(others(before.invoices, settled));
}

const json = (row: unknown) => JSON.parse(JSON.stringify(row));
const others = <Row extends { id: number }>(rows: Row[], ids: number[]) =>
  rows.filter(({ id }) => !ids.includes(id));

/** The result of a write. A refusal has its error code and the invalid fields. */
type WriteOutcome = 'created' | 'changed' | 'same' | 'deleted' | { code: string; fields: string[] };

const DECIMALS: Record<string, number> = { eur: 2, jpy: 0, kwd: 3 };

/**
 * A second implementation of the money rules of payments, without concurrency and without a database. Amounts are in
 * thousandths of a currency's unit, because every stored amount is a whole number of thousandths.
 */
class PaymentModel {
  readonly payments = new Map<number, ModelPayment>();
  readonly tombstones = new Set<string>();
  readonly invoices: Map<number, ReturnType<typeof toModelInvoice>>;

  constructor(
    ledger: Ledger,
    public now: Date,
    private readonly timeZone: string,
  ) {
    this.invoices = new Map(ledger.invoices.map((row) => [row.id, toModelInvoice(row)]));
    for (const row of ledger.payments) this.payments.set(row.id, toModelPayment(row));
  }

  /** Records a payment with a new id, or changes the payment with the same reference. */
  record(input: PaymentInput, id: number): WriteOutcome {
    const known = [...this.payments.values()].find((p) => p.payment_reference === input.payment_reference);
    if (known) return this.change(known.id, input);
    const refused = this.check(input, true);
    if (refused) return refused;
    const currency = this.invoices.get(input.invoice_id)?.currency ?? '';
    const status = input.status ?? 'completed';
    const amount = thousandths(input.amount);
    return this.replace(null, { ...input, id, amount, currency, status, source: 'api' });
  }

  change(id: number, changes: PaymentChanges): WriteOutcome {
    const before = this.payments.get(id);
    if (!before) return { code: 'not_found', fields: [] };
    const wanted = { ...before, amount: before.amount / 1000, ...defined(changes) };
    const refused = this.check(wanted, wanted.invoice_id !== before.invoice_id);
    if (refused) return refused;
    const currency = this.invoices.get(wanted.invoice_id)?.currency ?? '';
    const after = { ...wanted, amount: thousandths(wanted.amount), currency };
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

  /** Marks our own invoices as overdue if they are past due, as the daily reconciliation does. */
  night(): void {
    for (const invoice of this.invoices.values()) {
      if (!invoice.isManaged && invoice.status === 'sent' && this.isPastDue(invoice))
        invoice.status = 'overdue';
    }
  }

  /** Derives an invoice's amounts and status from its payments. */
  private settle(invoice: ModelInvoice): void {
    const paid = paidFor(invoice.id, [...this.payments.values()]);
    invoice.amount_paid = paid;
    invoice.amount_due = invoice.status === 'cancelled' ? 0 : Math.max(0, invoice.total - paid);
    if (['draft', 'cancelled'].includes(invoice.status)) return;
    if (paid >= invoice.total) {
      invoice.status = 'paid';
      invoice.paid_at ??= this.now.toISOString();
    } else {
      invoice.status = this.isPastDue(invoice) ? 'overdue' : 'sent';
      invoice.paid_at = null;
    }
  }

  private check(
    payment: Pick<PaymentInput, 'invoice_id' | 'customer_id' | 'amount'>,
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
    const rest = others([...this.payments.values()], before ? [before.id] : []);
    if (after && rest.some((payment) => payment.payment_reference === after.payment_reference)) {
      return { code: 'conflict', fields: ['payment_reference'] };
    }
    const rows = after ? [...rest, after] : rest;
    const touched = [...this.invoices.values()].filter(
      ({ id, isManaged }) => !isManaged && [before?.invoice_id, after?.invoice_id].includes(id),
    );
    if (touched.some(({ id }) => paidFor(id, rows) >= 1e15)) return invalid('amount');
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

/** Converts an amount to thousandths. This is exact for amounts below 10¹² with at most three decimals. */
const thousandths = (amount: string | number) => Math.round(Number(amount) * 1000);

function decimalsOf(amount: number): number {
  const text = String(amount);
  return text.includes('e') ? Number.POSITIVE_INFINITY : (text.split('.')[1] ?? '').length;
}

const paidFor = (invoiceId: number, all: ModelPayment[]) =>
  all
    .filter(({ invoice_id, status }) => invoice_id === invoiceId && status === 'completed')
    .reduce((sum, { amount }) => sum + amount, 0);

function invalid(...fields: string[]): WriteOutcome {
  return { code: 'validation_failed', fields };
}

function defined<Value extends object>(value: Value) {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as {
    [Key in keyof Value]: Exclude<Value[Key], undefined>;
  };
}

/** Index of an invoice or a payment in the ledger, modulo their count. Null for one that does not exist. */
const place = fc.option(fc.nat(30), { freq: 20 });
const amount = fc.oneof(
  fc.integer({ min: 1, max: 15_000 }).map((cents) => cents / 100),
  fc.constantFrom(0.1, 0.2, 0.3, 119, 118.99, 119.01, 80, 1200, 600, 10.125, 10.124, 0.001, 12.345, 1e-7),
  fc.constantFrom(1, 999_999_999_999),
);
const fields = {
  invoice: place,
  /** The customer in a write is the invoice's own, another one, or one that does not exist. */
  customer: fc.oneof(
    { weight: 12, arbitrary: fc.constant('own' as const) },
    fc.constantFrom('other' as const, 'none' as const),
  ),
  amount,
  payment_date: fc.constantFrom('2026-01-31', '2026-03-10', '2027-12-24'),
  payment_reference: fc.constantFrom('R1', 'R2', 'R3', 'R4', 'R5', 'in_paid'),
  status: fc.constantFrom(...paymentStatus.enumValues),
};
const post = fc.record(
  { do: fc.constant('post' as const), ...fields },
  { requiredKeys: ['do', 'invoice', 'customer', 'amount', 'payment_date', 'payment_reference'] },
);
const patch = fc
  .record({ do: fc.constant('patch' as const), target: place, ...fields }, { requiredKeys: ['do', 'target'] })
  .filter((given) => Object.keys(given).length > 2);
/** Sends the fields of a payment again, unchanged and without its reference. */
const repeat = fc.record({ do: fc.constant('repeat' as const), target: fc.nat(30) });
const remove = fc.record({ do: fc.constant('delete' as const), target: place });
/** Advances the clock. With `night`, the daily reconciliation also runs. */
const clock = fc.record({ do: fc.constant('clock' as const), hours: fc.nat(24 * 14), night: fc.boolean() });

const write = fc.oneof(
  { weight: 5, arbitrary: post },
  { weight: 7, arbitrary: patch },
  { weight: 3, arbitrary: fc.oneof(remove, repeat) },
);
type Write = typeof write extends fc.Arbitrary<infer Value> ? Value : never;
const step = fc.oneof({ weight: 9, arbitrary: write }, { weight: 1, arbitrary: clock });
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const NONE = 999_999;

/** Invoices of many kinds. The sixth belongs to another customer. */
const INVOICES: Partial<typeof invoices.$inferInsert>[] = [
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
async function openLedger({ db, now, env }: TestRuntime): Promise<PaymentModel> {
  await db.execute(sql`truncate customers, invoices, payments, payment_tombstones, audit_log,
    reconciliation_runs restart identity cascade`);
  const names = ['Ada', 'Bob'];
  await db.insert(customers).values(names.map((name) => ({ customer_number: name, first_name: name })));
  const dated = { customer_id: 1, status: 'sent' as const, invoice_date: '2026-03-01' };
  await db.insert(invoices).values(
    INVOICES.map(({ total = '0', ...invoice }, i) => {
      const sums = { subtotal: total, tax: '0', total, amount_due: total };
      return { ...dated, number: `R${i}`, ...sums, ...invoice };
    }),
  );
  const paid = { customer_id: 1, payment_date: '2026-03-02', currency: 'eur' };
  const atStripe = { payment_reference: 'in_paid', source: 'stripe', provider_amount: '50' } as const;
  await db.insert(payments).values([
    { ...paid, invoice_id: 9, amount: '30', payment_reference: 'R0', source: 'api' },
    { ...paid, invoice_id: 11, amount: '50', ...atStripe },
  ]);
  return new PaymentModel(await readLedger(db), now(), env.timeZone);
}

/** Reads the rows that the tests compare after a write. */
async function readLedger(db: Database) {
  return {
    invoices: await db.select().from(invoices).orderBy(invoices.id),
    payments: await db.select().from(payments).orderBy(payments.id),
    tombstones: await db.select().from(paymentTombstones).orderBy(paymentTombstones.reference),
    audit: await db.select().from(auditLog).orderBy(auditLog.id),
  };
}
type Ledger = Awaited<ReturnType<typeof readLedger>>;

type Call =
  | { verb: 'post'; input: PaymentInput }
  | { verb: 'patch'; id: number; changes: PaymentChanges }
  | { verb: 'delete'; id: number };

/** Converts a write to a call, with ids instead of indexes. */
function toCall(write: Write, ledger: Ledger): Call {
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
async function perform(runtime: TestRuntime, call: Call): Promise<number> {
  const writer = apiWriter(runtime, TOKEN);
  if (call.verb === 'post') return (await recordPayment(runtime.db, call.input, writer)).payment.id;
  if (call.verb === 'patch') await updatePayment(runtime.db, call.id, call.changes, writer);
  else await deletePayment(runtime.db, call.id, writer);
  return call.id;
}

function toFields(write: Extract<Write, { do: 'post' | 'patch' }>, ledger: Ledger, current = NONE) {
  const { do: _, target: __, invoice, customer, ...fields } = { target: null, ...write };
  const invoice_id = invoice === undefined ? current : pick(ledger.invoices, invoice);
  const owner = ledger.invoices.find(({ id }) => id === invoice_id)?.customer_id ?? 1;
  return {
    ...fields,
    ...(invoice !== undefined && { invoice_id }),
    ...(customer && { customer_id: { own: owner, other: 3 - owner, none: NONE }[customer] }),
  };
}

const pick = (rows: { id: number }[], at: number | null) =>
  (at !== null && rows[at % rows.length]?.id) || NONE;

function toModelInvoice(row: Ledger['invoices'][number]) {
  const { id, customer_id, currency, due_date, status, stripe_invoice_id, total, amount_paid } = row;
  return {
    ...{ id, customer_id, currency, due_date, status, isManaged: stripe_invoice_id !== null },
    ...{ total: thousandths(total), amount_paid: thousandths(amount_paid) },
    amount_due: thousandths(row.amount_due),
    paid_at: row.paid_at?.toISOString() ?? null,
  };
}
type ModelInvoice = ReturnType<typeof toModelInvoice>;

function toModelPayment(row: Ledger['payments'][number]) {
  const { id, invoice_id, customer_id, currency, payment_date, payment_reference, status, source } = row;
  const amount = thousandths(row.amount);
  return { id, invoice_id, customer_id, amount, currency, payment_date, payment_reference, status, source };
}
type ModelPayment = ReturnType<typeof toModelPayment>;
