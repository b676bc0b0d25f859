import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '@/lib/errors';
import { reconcile } from '@/lib/sync/reconcile/reconcile';
import { syncDeps } from '@/lib/sync/sync-deps';
import { useDatabase } from '../support/database';
import { type TestRuntime, testRuntime } from '../support/runtime';
import {
  type Call,
  type Ledger,
  openLedger,
  perform,
  readLedger,
  TOKEN,
  toCall,
  toModelInvoice,
  toModelPayment,
} from '../support/settlement/ledger';
import type { PaymentModel, Verdict } from '../support/settlement/model';
import { type Step, step, write } from '../support/settlement/steps';

const RUNS = Number(process.env.W5T_FUZZ_RUNS ?? 25);
const SEED = Number(process.env.W5T_FUZZ_SEED ?? 20_260_321);
const LONGEST_MS = 60_000 + RUNS * 2_000;
const SPACE = { APP_TIMEZONE: 'Pacific/Auckland' }; // its day is not UTC's

const base = useDatabase();

test(
  'after every write of a payment each invoice is what its payments make of it',
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
  'of writes at once none fails, and each invoice ends as what its payments make of it',
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

/** Takes a step in the database and in the model, and holds one to the other. */
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

/** The id of the payment that was written, or the refusal; any other failure is one of the test. */
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

/** One audit entry with the payment before and after, and nothing touched but its invoices of ours. */
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

/** Nobody can say in which order writes at once came; but the audit log tells one that explains all. */
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
