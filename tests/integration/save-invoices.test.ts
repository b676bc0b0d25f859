import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { auditLog, invoices, payments } from '@/db/schema';
import { transact } from '@/db/transaction';
import { commandActor } from '@/lib/audit/record-audit';
import { listLines } from '@/lib/invoices/line-rows';
import { invoiceKind } from '@/lib/invoices/save-invoices';
import { invoiceSteps, typedDueDate } from '@/lib/invoices/typed-invoice';
import { deletePayment } from '@/lib/payments/delete-payment';
import { recordPayment } from '@/lib/payments/record-payment';
import type { RecordWriter } from '@/lib/records/record-kind';
import { saveRecord, saveRecords, saveRecordWithin } from '@/lib/records/save-records';
import { takeStep } from '@/lib/records/take-step';
import { saveTyped } from '@/lib/records/typed-record';
import { useDatabase } from '../support/database';
import { createCustomer, createInvoice } from '../support/factories';

const base = useDatabase();
const NOW = new Date('2026-11-23T10:00:00Z');
const writer: RecordWriter = { actor: commandActor('test'), now: NOW, timeZone: 'UTC' };
const LINES = [
  { text: 'Hosting', quantity: 2, unit_price: 50, tax_rate: 19 },
  { text: 'Discount', quantity: 1, unit_price: -10, tax_rate: 19 },
];
let customer: Awaited<ReturnType<typeof createCustomer>>;
beforeAll(async () => {
  customer = await createCustomer(base.db, { customer_number: 'K1' });
});

const save = async (values: Record<string, unknown>, seen: { id?: number; version?: number } = {}) =>
  read((await saveRecord(base.db, invoiceKind, { ...seen, values }, writer)).id);
const draft = (values: Record<string, unknown> = {}) =>
  save({ customer_number: 'K1', lines: LINES, ...values });
const imported = (values: Record<string, unknown>) =>
  save({ customer_number: 'K1', invoice_date: '2026-01-01', total: 119, tax: 19, status: 'sent', ...values });
async function read(id: number) {
  const [found] = await base.db.select().from(invoices).where(eq(invoices.id, id));
  if (!found) throw new Error(`no invoice ${id}`);
  return found;
}
const step = (name: string, seen: { id: number; version: number }) =>
  takeStep(base.db, invoiceSteps, name, seen, writer);
const problemsOf = (saving: Promise<unknown>) =>
  saving.then(
    () => [],
    (error: { fields?: { field: string }[] }) => error.fields?.map(({ field }) => field) ?? [String(error)],
  );
const pay = (invoice: { id: number; customer_id: number }, amount: number, payment_reference: string) =>
  recordPayment(
    base.db,
    {
      invoice_id: invoice.id,
      customer_id: invoice.customer_id,
      amount,
      payment_date: '2026-11-01',
      payment_reference,
    },
    { ...writer, source: 'import' },
  );

describe('a draft', () => {
  test('has no number, and sums that follow from its lines', async () => {
    const made = await draft();
    expect(made).toMatchObject({
      ...{ number: null, status: 'draft', invoice_date: '2026-11-23', due_date: null, currency: 'eur' },
      ...{ subtotal: '90.000', tax: '17.100', total: '107.100', amount_due: '107.100', amount_paid: '0.000' },
    });
    expect(await listLines(base.db, 'invoice', made.id)).toMatchObject([
      { text: 'Hosting', quantity: '2.000', unit_price: '50.000', tax_rate: '19.00' },
      { text: 'Discount', unit_price: '-10.000' },
    ]);
  });

  test('changes with its lines, which the audit log shows, and by whoever saw it last', async () => {
    const { id, version } = await draft();
    const lines = LINES.slice(0, 1);
    const changed = await save({ lines }, { id, version });
    expect(changed).toMatchObject({ total: '119.000', version: version + 1 });
    await expect(save({ lines: LINES }, { id, version })).rejects.toThrow('Somebody else');
    const [told] = await saveRecords(base.db, invoiceKind, [{ id, values: { lines } }], writer);
    expect(told).toEqual({ outcome: 'unchanged', id });
    const log = await base.db.select().from(auditLog).where(eq(auditLog.entity_id, id)).orderBy(auditLog.id);
    expect(log.filter(({ entity }) => entity === 'invoice')).toMatchObject([
      {
        action: 'invoice.create',
        before: null,
        after: { lines: [{ text: 'Hosting' }, { text: 'Discount' }] },
      },
      { before: { lines: [{}, {}] }, after: { lines: [{ text: 'Hosting' }], total: '119.000' } },
    ]);
  });

  test.each<[Record<string, unknown>, string[]]>([
    [{ lines: [] }, ['lines']],
    [{ lines: undefined }, ['lines']],
    [{ total: 107.11 }, ['total']],
    [{ lines: undefined, subtotal: 100, tax: 19, total: 120 }, ['total']],
    [{ lines: undefined, total: 1.005 }, ['subtotal', 'total']],
    [{ lines: [{ ...LINES[0], unit_price: -1 }] }, ['lines']],
    [
      {
        lines: [
          { ...LINES[0], quantity: 1.0005 },
          { ...LINES[0], text: '', tax_rate: 101 },
        ],
      },
      ['lines.0.quantity', 'lines.1.text', 'lines.1.tax_rate'],
    ],
    [{ number: 'R1' }, ['number']],
    [{ amount_paid: 1 }, ['amount_paid']],
    [{ status: 'cancelled' }, ['status']],
    [{ customer_number: 'K0' }, ['customer_number']],
    [{ due_date: '2026-11-22' }, ['due_date']],
    [{ stripe_invoice_id: 'in_1' }, ['stripe_invoice_id']],
  ])('is refused with %j', async (values, fields) => {
    expect(await problemsOf(draft(values))).toEqual(fields);
  });

  test('is known again by its import key, also once it was sent', async () => {
    const values = { customer_number: 'K1', lines: LINES, import_key: 'draft-1' };
    const first = await save(values);
    expect((await save({ ...values, due_date: '2026-12-24' })).id).toBe(first.id);
    await step('send', { id: first.id, version: first.version + 1 });
    expect((await save({ import_key: 'draft-1' })).status).toBe('sent');
    expect(await problemsOf(save({ ...values, status: 'draft' }))).toEqual(['status']);
  });
});

describe('sending', () => {
  test('takes the number of its year and the usual days to pay', async () => {
    const { id, version } = await draft({ invoice_date: '2025-12-31' });
    await step('send', { id, version });
    expect(await read(id)).toMatchObject({
      number: '2025-000001',
      status: 'overdue',
      due_date: '2026-01-14',
    });
    await expect(step('send', { id, version })).rejects.toMatchObject({ code: 'precondition_failed' });
    expect(await problemsOf(step('send', { id, version: version + 1 }))).toEqual(['status']);
  });

  test('leaves no number out: twenty at once, some of which come to nothing', async () => {
    const drafts = await Promise.all(Array.from({ length: 20 }, () => draft({ invoice_date: '2024-05-01' })));
    const sent = await Promise.allSettled(
      drafts.map(({ id, version }, i) =>
        i % 4 === 0
          ? transact(base.db, async (tx) => {
              await saveRecordWithin(tx, invoiceKind, { id, version, values: { status: 'sent' } }, writer);
              throw new Error('rolled back');
            })
          : step('send', { id, version }),
      ),
    );
    expect(sent.filter(({ status }) => status === 'fulfilled')).toHaveLength(15);
    const found = await Promise.all(drafts.map(({ id }) => read(id)));
    expect(found.flatMap(({ number }) => number ?? []).sort()).toEqual(
      Array.from({ length: 15 }, (_, i) => `2024-${String(i + 1).padStart(6, '0')}`),
    );
  });

  test('several of one batch take a number each', async () => {
    const values = { customer_number: 'K1', lines: LINES, status: 'sent', invoice_date: '2023-01-01' };
    const saved = await saveRecords(base.db, invoiceKind, [{ values }, { values }], writer);
    const ids = saved.map((one) => ('id' in one ? one.id : 0));
    expect((await Promise.all(ids.map(read))).map(({ number }) => number)).toEqual([
      '2023-000001',
      '2023-000002',
    ]);
  });
});

describe('an invoice that was sent', () => {
  test('changes by its due date, which decides whether it is overdue', async () => {
    const { id, version } = await imported({ number: 'I1', due_date: '2026-11-01' });
    expect((await read(id)).status).toBe('overdue');
    await saveTyped(base.db, typedDueDate, { id, version }, { due_date: '2026-12-01' }, writer);
    expect(await read(id)).toMatchObject({ status: 'sent', due_date: '2026-12-01' });
  });

  test.each<[Record<string, unknown>, string[]]>([
    [{ total: 120 }, ['subtotal', 'tax', 'total']],
    [{ lines: LINES }, ['subtotal', 'tax', 'total']],
    [{ status: 'draft' }, ['status']],
    [{ status: 'paid' }, ['status']],
    [{ amount_paid: 5 }, ['amount_paid']],
    [{ currency: 'usd', invoice_date: '2026-02-02' }, ['invoice_date', 'currency']],
  ])('cannot be given %j', async (values, fields) => {
    const { id } = await imported({ number: `I-${JSON.stringify(values).length}-${fields.length}` });
    expect((await problemsOf(save(values, { id }))).sort()).toEqual([...fields].sort());
  });

  test('may be given the lines that it comes to, once', async () => {
    await imported({ number: 'I2' });
    const lines = [{ text: 'All', quantity: 1, unit_price: 100, tax_rate: 19 }];
    const { id } = await save({ number: 'I2', lines });
    expect(await listLines(base.db, 'invoice', id)).toHaveLength(1);
    expect(await problemsOf(save({ number: 'I2', lines: [{ ...lines[0], text: 'Else' }] }))).toEqual([
      'lines',
    ]);
  });

  test('is cancelled while nothing is paid, and changes no more', async () => {
    const { id, version } = await imported({ number: 'I3' });
    await pay({ id, customer_id: customer.id }, 5, 'I3-1');
    expect(await problemsOf(step('cancel', { id, version: version + 1 }))).toEqual(['status']);
    const other = await imported({ number: 'I4' });
    await step('cancel', other);
    expect(await read(other.id)).toMatchObject({ status: 'cancelled', number: 'I4' });
    expect(await problemsOf(save({ due_date: '2027-01-01' }, { id: other.id }))).toEqual(['']);
  });

  test('that Stripe owns is left alone, also where a file has its number', async () => {
    const { id } = await createInvoice(base.db, { number: 'ST1', stripe_invoice_id: 'in_1' });
    expect(await problemsOf(save({ due_date: '2027-01-01' }, { id }))).toEqual(['']);
    expect(await problemsOf(imported({ number: 'ST1' }))).toEqual(['']);
  });
});

describe('an invoice that was imported', () => {
  test('as paid has no payments and owes nothing; the same again changes nothing', async () => {
    const values = { number: 'P1', status: 'paid', paid_at: '2026-01-05' };
    const made = await imported(values);
    const paid_at = new Date('2026-01-05T00:00:00Z');
    expect(made).toMatchObject({ status: 'paid', amount_paid: '119.000', amount_due: '0.000', paid_at });
    expect((await imported(values)).version).toBe(made.version);
    expect(await problemsOf(imported({ number: 'P0', status: 'paid', amount_paid: 5 }))).toEqual([
      'amount_paid',
    ]);
  });

  test('as paid stays paid by partial payments, until they are all there and one goes', async () => {
    const made = await imported({ number: 'P2', status: 'paid', paid_at: '2026-01-05' });
    const state = async () => {
      const { status, amount_paid } = await read(made.id);
      return [status, amount_paid];
    };
    const { payment } = await pay(made, 50, 'P2-1');
    expect(await state()).toEqual(['paid', '119.000']);
    await deletePayment(base.db, payment.id, { ...writer, source: 'import' });
    expect(await state()).toEqual(['paid', '119.000']);
    await pay(made, 50, 'P2-1');
    const rest = await pay(made, 69, 'P2-2');
    expect(await state()).toEqual(['paid', '119.000']);
    expect((await read(made.id)).paid_at).toEqual(made.paid_at);
    expect((await imported({ number: 'P2', status: 'paid' })).version).toBe((await read(made.id)).version);
    await deletePayment(base.db, rest.payment.id, { ...writer, source: 'import' });
    expect(await state()).toEqual(['sent', '50.000']);
    expect(await base.db.$count(payments, eq(payments.invoice_id, made.id))).toBe(1);
  });

  test('as open is paid by its payments, and its file changes nothing then', async () => {
    const made = await imported({ number: 'P3' });
    await pay(made, 119, 'P3-1');
    expect((await imported({ number: 'P3' })).status).toBe('paid');
  });
});
