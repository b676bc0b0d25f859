import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '@/lib/errors';
import { settledAfter } from '@/lib/invoices/settle';
import { reconcile } from '@/lib/sync/reconcile/reconcile';
import { syncDeps } from '@/lib/sync/sync-deps';
import { useDatabase } from '../support/database';
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
  type WriteOutcome,
} from '../support/settlement';

const RUNS = Number(process.env.W5T_FUZZ_RUNS ?? 12);
const SEED = Number(process.env.W5T_FUZZ_SEED ?? 20_260_321);
const LONGEST_MS = 60_000 + RUNS * 2_000;
const SPACE = { APP_TIMEZONE: 'Pacific/Auckland' }; // The local day of the test is not the UTC day.

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
  'an invoice imported as paid stays paid when the sum of its payments changes from %s to %s',
  (before, after) => {
    const imported = 60;
    const owed = {
      total: '60',
      amount_credited: '0',
      status: 'paid',
      due_date: null,
      payment_failed_at: null,
      uncollectible: false,
    } as const;
    const at = { today: '2026-03-15', now: new Date('2026-03-15T12:00:00Z') };
    const invoice = { ...owed, paid_at: null, amount_paid: String(imported) };
    const settled = settledAfter(invoice, { before: 1000 * before, after: 1000 * after }, at);
    const amount_paid = Math.max(imported, after).toFixed(3);
    expect(settled).toEqual({ amount_paid, amount_due: '0.000', status: 'paid', paid_at: at.now });
  },
);

test(
  'an invoice’s amounts match its payments after every write of a payment',
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
  const payments = [...model.payments.values()].sort((a, b) => a.id - b.id);
  expect(held.payments.map(toModelPayment)).toEqual(payments);
  expect(held.tombstones.map(({ reference }) => reference)).toEqual([...model.tombstones].sort());
}

const ACTIONS = { created: 'payment.create', changed: 'payment.update', deleted: 'payment.delete' };

/**
 * Expects one audit entry with the payment before and after. Other payments, and invoices that the payment does not
 * settle, must be unchanged.
 */
function expectWrite(before: Ledger, after: Ledger, verdict: WriteOutcome, id: number): void {
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

const json = (row: unknown) => JSON.parse(JSON.stringify(row));
const others = <Row extends { id: number }>(rows: Row[], ids: number[]) =>
  rows.filter(({ id }) => !ids.includes(id));
