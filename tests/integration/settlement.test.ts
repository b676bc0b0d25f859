import { eq } from 'drizzle-orm';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { invoiceStatus, invoices, payments } from '@/db/schema';
import { AppError } from '@/lib/errors';
import { paidWithout, settled, settleInvoice } from '@/lib/invoices/settle';
import { reconcile } from '@/lib/sync/reconcile/reconcile';
import { syncDeps } from '@/lib/sync/sync-deps';
import { useDatabase } from '../support/database';
import { createCustomer, createInvoice, createPayment } from '../support/factories';
import { type TestRuntime, testRuntime } from '../support/runtime';
import {
  type Call,
  type Ledger,
  openLedger,
  type PaymentModel,
  perform,
  readLedger,
  type Step,
  step,
  TOKEN,
  toCall,
  toModelInvoice,
  toModelPayment,
  type Verdict,
  write,
} from '../support/settlement';

const RUNS = Number(process.env.W5T_FUZZ_RUNS ?? 12);
const SEED = Number(process.env.W5T_FUZZ_SEED ?? 20_260_321);
const LONGEST_MS = 60_000 + RUNS * 2_000;
const SPACE = { APP_TIMEZONE: 'Pacific/Auckland' }; // The test's day differs from the UTC day here.

const base = useDatabase();

describe('the SQL function that settles an invoice', () => {
  const at = { today: '2026-03-15', now: new Date('2026-03-15T12:00:00Z') };
  const EARLIER = new Date('2026-03-01T09:00:00Z');
  let customer_id: number;

  beforeAll(async () => {
    customer_id = (await createCustomer(base.db)).id;
  });

  /** Amounts, refunded amounts and statuses of the payments of an invoice of 119. */
  const PAYMENTS = [
    [],
    [['119', '0', 'completed']],
    [['119', '19', 'completed']],
    [['119', '119', 'refunded']],
    [
      ['100', '0', 'completed'],
      ['19', '0', 'pending'],
    ],
    [
      ['100.5', '0.5', 'completed'],
      ['119', '100', 'completed'],
    ],
    [['130', '0', 'completed']],
  ] as const;

  const ofInvoice = (id: number) => base.db.select().from(payments).where(eq(payments.invoice_id, id));
  const storedOf = async (id: number) =>
    (await base.db.select().from(invoices).where(eq(invoices.id, id)))[0];

  test.each(invoiceStatus.enumValues)(
    'an invoice with the status %s is settled alike by SQL and by `settled`',
    async (status) => {
      for (const due_date of [null, '2026-03-14', '2026-03-15']) {
        for (const paid_at of [null, EARLIER]) {
          for (const made of PAYMENTS) {
            const invoice = await createInvoice(base.db, { customer_id, status, due_date, paid_at });
            for (const [amount, refunded_amount, status] of made) {
              const on = { invoice_id: invoice.id, customer_id };
              await createPayment(base.db, { ...on, amount, refunded_amount, status });
            }
            await settleInvoice(base.db, invoice.id, at);
            const expected = settled(invoice, await ofInvoice(invoice.id), at);
            expect(await storedOf(invoice.id)).toMatchObject(expected);
          }
        }
      }
    },
  );

  test.each([
    ['119', []],
    ['119', ['50']],
    ['119', ['119']],
    ['60', ['50', '9']],
    ['60', ['50', '10']],
    ['60', ['50', '60']],
  ])(
    'an invoice imported with %s paid and payments of %j is settled alike by SQL and by `settled`',
    async (amount_paid, amounts) => {
      const imported = { customer_id, status: 'paid' as const, amount_paid, paid_at: EARLIER };
      const invoice = await createInvoice(base.db, imported);
      for (const amount of amounts) {
        await createPayment(base.db, { invoice_id: invoice.id, customer_id, amount });
      }
      const made = await ofInvoice(invoice.id);
      const without = paidWithout(invoice, made.slice(0, -1));
      await settleInvoice(base.db, invoice.id, { ...at, change: amounts.at(-1) ?? '0' });
      const stored = await storedOf(invoice.id);
      expect(stored).toMatchObject(settled(invoice, made, at, without));
      const sum = amounts.reduce((total, one) => total + Number(one), 0);
      expect(Number(stored?.amount_paid)).toBe(Math.max(Number(amount_paid), sum));
    },
  );
});

test(
  'an invoice’s amounts follow from its payments after every write of a payment',
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

test(
  'concurrent writes of payments all succeed, and each invoice follows from its payments',
  async () => {
    const writes = fc.array(write, { minLength: 10, maxLength: 30, size: 'max' });
    await fc.assert(
      fc.asyncProperty(writes, writes, async (...batches) => {
        const runtime = testRuntime(base.db, { env: SPACE });
        const model = await openLedger(runtime);
        for (const batch of batches) {
          const before = await readLedger(base.db);
          await Promise.all(batch.map((one) => outcomeOf(perform(runtime, toCall(one, before)))));
          expectConsistent(model, before, await readLedger(base.db));
        }
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
  const verdict = expected(model, call, id);
  const after = await readLedger(runtime.db);
  expect(refused ?? 'written').toEqual(typeof verdict === 'string' ? 'written' : verdict);
  expectModel(model, after);
  if (verdict === 'same' || refused) expect(after).toEqual(before);
  else expectWrite(before, after, verdict, id);
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

function expected(model: PaymentModel, call: Call, newId: number): Verdict {
  if (call.verb === 'post') return model.record(call.input, newId);
  return call.verb === 'patch' ? model.change(call.id, call.changes) : model.remove(call.id);
}

function expectModel(model: PaymentModel, held: Ledger): void {
  expect(held.invoices.map(toModelInvoice)).toEqual([...model.invoices.values()]);
  const payments = [...model.payments.values()].sort((a, b) => a.id - b.id);
  expect(held.payments.map(toModelPayment)).toEqual(payments);
  expect(held.tombstones.map(({ reference }) => reference)).toEqual([...model.tombstones].sort());
}

const ACTIONS = { created: 'payment.create', changed: 'payment.update', deleted: 'payment.delete' };

/** Expects one audit entry with the payment before and after, and only its own invoices changed. */
function expectWrite(before: Ledger, after: Ledger, verdict: Verdict, id: number): void {
  const [was, is] = [before, after].map(({ payments }) => payments.find((row) => row.id === id) ?? null);
  const entry = {
    action: ACTIONS[verdict as keyof typeof ACTIONS],
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

/** The order of concurrent writes is unknown, but the order of the audit log must explain the rows. */
function expectConsistent(model: PaymentModel, before: Ledger, after: Ledger): void {
  const entries = after.audit.slice(before.audit.length);
  const rows = new Map(before.payments.map((row) => [row.id, json(row)]));
  for (const entry of entries) {
    expect(entry.before).toEqual(rows.get(entry.entity_id) ?? null);
    if (entry.after) rows.set(entry.entity_id, entry.after);
    else rows.delete(entry.entity_id);
    if (
      entry.before?.source === 'stripe' &&
      entry.before.payment_reference !== entry.after?.payment_reference
    ) {
      model.tombstones.add(String(entry.before.payment_reference));
    }
  }
  expect(json(after.payments)).toEqual([...rows.values()].sort((a, b) => a.id - b.id));
  model.payments.clear();
  for (const row of after.payments) model.payments.set(row.id, toModelPayment(row));
  const touched = new Set(entries.flatMap((entry) => [entry.before?.invoice_id, entry.after?.invoice_id]));
  for (const invoice of model.invoices.values()) {
    if (touched.has(invoice.id) && !invoice.isManaged) model.settle(invoice);
  }
  expectModel(model, after);
}

const json = (row: unknown) => JSON.parse(JSON.stringify(row));
const others = <Row extends { id: number }>(rows: Row[], ids: number[]) =>
  rows.filter(({ id }) => !ids.includes(id));
