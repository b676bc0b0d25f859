import { and, eq } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import { auditLog, invoices, payments, salesDocuments } from '@/db/schema';
import { transact } from '@/db/transaction';
import { commandActor } from '@/lib/audit/audit-log';
import { AppError } from '@/lib/errors';
import { listLines } from '@/lib/invoices/lines';
import { invoiceKind, invoiceSteps, typedDueDate, typedInvoice } from '@/lib/invoices/save-invoices';
import { deletePayment, recordPayment } from '@/lib/payments/write-payment';
import type { RecordKind, RecordWriter } from '@/lib/records/record-kind';
import { saveRecord, saveRecords } from '@/lib/records/save-records';
import { takeStep } from '@/lib/records/steps';
import { readTyped, saveTyped } from '@/lib/records/typed-record';
import {
  convertDocument,
  deleteDraft,
  salesDocumentKind,
  salesDocumentSteps,
} from '@/lib/sales-documents/save-sales-documents';
import { readRow, readRows, useDatabase } from '../support/database';
import { createCustomer, createInvoice, createSalesDocument } from '../support/factories';
import { problemsOf } from '../support/problems';

const base = useDatabase();
const NOW = new Date('2026-11-23T10:00:00Z');
const writer: RecordWriter = { actor: commandActor('test'), now: NOW, timeZone: 'UTC' };
const LINES = [
  { text: 'Hosting', quantity: 2, unit_price: 50, tax_rate: 19 },
  { text: 'Discount', quantity: 1, unit_price: -10, tax_rate: 19 },
];
beforeAll(() => createCustomer(base.db, { customer_number: 'K1' }));

type Values = Record<string, unknown>;
interface Seen {
  id: number;
  version: number;
}

const read = (id: number) => readRow(base.db, invoices, id);
const readDocument = (id: number) => readRow(base.db, salesDocuments, id);
const save = async (values: Values, seen: Partial<Seen> = {}) =>
  read((await saveRecord(base.db, invoiceKind, { ...seen, values }, writer)).id);
const draft = (values: Values = {}) => save({ customer_number: 'K1', lines: LINES, ...values });
const imported = (values: Values) =>
  save({ customer_number: 'K1', invoice_date: '2026-01-01', total: 119, tax: 19, status: 'sent', ...values });
const step = (name: string, { id, version }: Seen) =>
  takeStep(base.db, invoiceSteps, name, { id, version }, writer);
const convert = ({ id, version }: Seen, to: 'order_confirmation' | 'invoice') =>
  convertDocument(base.db, { id, version, to }, writer);
const logOf = (entity: 'invoice' | 'sales_document', id: number) =>
  readRows(base.db, auditLog, and(eq(auditLog.entity, entity), eq(auditLog.entity_id, id)));
const pay = (invoice: { id: number; customer_id: number }, amount: number, payment_reference: string) => {
  const payment = { invoice_id: invoice.id, customer_id: invoice.customer_id, amount, payment_reference };
  return recordPayment(base.db, { ...payment, payment_date: '2026-11-01' }, { ...writer, source: 'import' });
};

test('the total of a draft invoice is the sum of its lines with tax', async () => {
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

test('changing a draft invoice is logged with its lines, and refused from an outdated version', async () => {
  const { id, version } = await draft();
  const lines = LINES.slice(0, 1);
  expect(await save({ lines }, { id, version })).toMatchObject({ total: '119.000', version: version + 1 });
  expect(await problemsOf(save({ lines: LINES }, { id, version }))).toEqual(['precondition_failed']);
  const again = await saveRecords(base.db, invoiceKind, [{ id, values: { lines } }], writer);
  expect(again).toEqual([{ outcome: 'unchanged', id }]);
  expect(await logOf('invoice', id)).toMatchObject([
    { action: 'invoice.create', before: null, after: { lines: [{ text: 'Hosting' }, {}] } },
    { before: { lines: [{}, {}] }, after: { lines: [{ text: 'Hosting' }], total: '119.000' } },
  ]);
});

const [line] = LINES;
test.each<[Values, string[]]>([
  [{ lines: [] }, ['lines']],
  [{ total: 107.11 }, ['total']],
  [{ lines: undefined, subtotal: 100, tax: 19, total: 120 }, ['total']],
  [{ lines: undefined, total: 1.005 }, ['subtotal', 'total']],
  [{ lines: [{ ...line, unit_price: -1 }] }, ['lines']],
  [{ lines: [{ ...line, quantity: 1.0005 }] }, ['lines.0.quantity']],
  [{ lines: [line, { ...line, text: '', tax_rate: 101 }] }, ['lines.1.text', 'lines.1.tax_rate']],
  [{ number: 'R1' }, ['number']],
  [{ amount_paid: 1 }, ['amount_paid']],
  [{ status: 'cancelled' }, ['status']],
  [{ customer_number: 'K0' }, ['customer_number']],
  [{ due_date: '2026-11-22' }, ['due_date']],
  [{ stripe_invoice_id: 'in_1' }, ['stripe_invoice_id']],
])('a draft invoice with %j is refused', async (values, fields) => {
  expect(await problemsOf(draft(values))).toEqual(fields);
});

test('an import recognizes an invoice by its import key, even once the draft was sent, and cannot make it a draft again', async () => {
  const values = { customer_number: 'K1', lines: LINES, import_key: 'draft-1' };
  const { id } = await save(values);
  const changed = await save({ ...values, due_date: '2026-12-24' });
  expect(changed.id).toBe(id);
  await step('send', changed);
  expect((await save({ import_key: 'draft-1' })).status).toBe('sent');
  expect(await problemsOf(save({ ...values, status: 'draft' }))).toEqual(['status']);
});

const TYPED = {
  ...{ customer_number: 'k1', currency: 'EUR', 'lines.0.text': 'Hosting', 'lines.0.quantity': '2' },
  ...{ 'lines.0.unit_price': '9,90', 'lines.0.tax_rate': '19' },
};
const type = (typed: Record<string, string>, seen: Seen | null = null) =>
  saveTyped(base.db, typedInvoice, seen, typed, writer);

test('the invoice form shows saved values, names missing line fields, and ignores a submitted status and number', async () => {
  const { id } = await type(TYPED);
  const filled = { customer_number: 'K1', invoice_date: '2026-11-23', due_date: '' };
  const typed = { ...TYPED, ...filled, 'lines.0.unit_price': '9.90', 'lines.0.tax_category': '' };
  expect(await readTyped(base.db, typedInvoice, id)).toEqual({ version: 0, typed });
  const emptied = { ...typed, 'lines.0.text': '', 'lines.0.unit_price': '' };
  const fields = ['lines.0.text', 'lines.0.unit_price'];
  expect(await problemsOf(type(emptied, { id, version: 0 }))).toEqual(fields);
  expect(await problemsOf(type({ customer_number: 'K1' }))).toEqual(['lines.0.text']);
  const other = await type({ ...TYPED, status: 'paid', number: 'X' });
  expect(await read(other.id)).toMatchObject({ status: 'draft', number: null });
});

test('a sent invoice gets the next number of its year, and cannot be sent again', async () => {
  const { id, version } = await draft({ invoice_date: '2025-12-31' });
  await step('send', { id, version });
  const sent = { number: '2025-000001', status: 'overdue', due_date: '2026-01-14' };
  expect(await read(id)).toMatchObject(sent);
  expect(await problemsOf(step('send', { id, version }))).toEqual(['precondition_failed']);
  expect(await problemsOf(step('send', { id, version: version + 1 }))).toEqual(['status']);
});

test('an invoice cannot be issued before its date, unless an imported file has its number', async () => {
  // In this time zone, the next day has begun at 10:00 UTC.
  const farEast: RecordWriter = { ...writer, timeZone: 'Pacific/Kiritimati' };
  const { id, version } = await draft({ invoice_date: '2026-11-24' });
  expect(await problemsOf(step('send', { id, version }))).toEqual(['invoice_date']);
  expect(await problemsOf(save({ status: 'sent', number: 'N-1' }, { id }))).toEqual(['invoice_date']);
  expect(await problemsOf(draft({ invoice_date: '2062-10-05', status: 'sent' }))).toEqual(['invoice_date']);
  await takeStep(base.db, invoiceSteps, 'send', { id, version }, farEast);
  expect(await read(id)).toMatchObject({ invoice_date: '2026-11-24', status: 'sent' });
  await imported({ number: 'N-2', invoice_date: '2026-12-01' });
});

test('numbers of concurrently sent invoices have no gaps, even if some of the sendings are rolled back', async () => {
  const drafts = await Promise.all(Array.from({ length: 20 }, () => draft({ invoice_date: '2024-05-01' })));
  const sendAndFail = ({ id, version }: Seen) =>
    transact(base.db, async (tx) => {
      await saveRecord(tx, invoiceKind, { id, version, values: { status: 'sent' } }, writer);
      throw new AppError('internal', 'rolled back');
    });
  const sent = await Promise.all(
    drafts.map((one, i) => problemsOf(i % 4 === 0 ? sendAndFail(one) : step('send', one))),
  );
  expect(sent.filter((problems) => problems.length === 0)).toHaveLength(15);
  const values = { customer_number: 'K1', lines: LINES, status: 'sent', invoice_date: '2024-01-01' };
  const saved = await saveRecords(base.db, invoiceKind, [{ values }, { values }], writer);
  const ids = [...drafts.map(({ id }) => id), ...saved.map((one) => ('id' in one ? one.id : 0))];
  const found = await Promise.all(ids.map(read));
  expect(found.flatMap(({ number }) => number ?? []).sort()).toEqual(
    Array.from({ length: 17 }, (_, i) => `2024-${String(i + 1).padStart(6, '0')}`),
  );
});

test('a later due date sets an overdue invoice back to sent', async () => {
  const { id, version } = await imported({ number: 'I1', due_date: '2026-11-01' });
  expect((await read(id)).status).toBe('overdue');
  await saveTyped(base.db, typedDueDate, { id, version }, { due_date: '2026-12-01' }, writer);
  expect(await read(id)).toMatchObject({ status: 'sent', due_date: '2026-12-01' });
});

test.each<[Values, string[]]>([
  [{ total: 120 }, ['subtotal', 'tax', 'total']],
  [{ lines: LINES }, ['subtotal', 'tax', 'total']],
  [{ status: 'draft' }, ['status']],
  [{ status: 'paid' }, ['status']],
  [{ amount_paid: 5 }, ['amount_paid']],
  [{ currency: 'usd', invoice_date: '2026-02-02' }, ['currency', 'invoice_date']],
])('a sent invoice refuses the change %j', async (values, fields) => {
  const { id } = await imported({ number: `I-${Object.entries(values)}`.slice(0, 50) });
  expect((await problemsOf(save(values, { id }))).sort()).toEqual(fields);
});

test('lines can be added to a sent invoice that has none, but not changed afterwards', async () => {
  await imported({ number: 'I2' });
  const lines = [{ text: 'All', quantity: 1, unit_price: 100, tax_rate: 19 }];
  const { id } = await save({ number: 'I2', lines });
  expect(await listLines(base.db, 'invoice', id)).toHaveLength(1);
  const other = { number: 'I2', lines: [{ ...lines[0], text: 'Else' }] };
  expect(await problemsOf(save(other))).toEqual(['lines']);
});

test('an invoice with a payment cannot be cancelled, and a cancelled one cannot be changed', async () => {
  const made = await imported({ number: 'I3' });
  await pay(made, 5, 'I3-1');
  expect(await problemsOf(step('cancel', await read(made.id)))).toEqual(['status']);
  const other = await imported({ number: 'I4' });
  await step('cancel', other);
  expect(await read(other.id)).toMatchObject({ status: 'cancelled', number: 'I4', amount_due: '0.000' });
  expect(await problemsOf(save({ due_date: '2027-01-01' }, { id: other.id }))).toEqual(['']);
});

test('a Stripe invoice cannot be changed by staff or imports', async () => {
  const { id } = await createInvoice(base.db, { number: 'ST1', stripe_invoice_id: 'in_1' });
  expect(await problemsOf(save({ due_date: '2027-01-01' }, { id }))).toEqual(['']);
  expect(await problemsOf(imported({ number: 'ST1' }))).toEqual(['']);
});

test('an invoice imported as paid has nothing due, and is refused with a smaller amount paid', async () => {
  const values = { number: 'P1', status: 'paid', paid_at: '2026-01-05' };
  const made = await imported(values);
  const paid_at = new Date('2026-01-05T00:00:00Z');
  expect(made).toMatchObject({ status: 'paid', amount_paid: '119.000', amount_due: '0.000', paid_at });
  expect((await imported(values)).version).toBe(made.version);
  const wrong = { number: 'P0', status: 'paid', amount_paid: 5 };
  expect(await problemsOf(imported(wrong))).toEqual(['amount_paid']);
});

test('an invoice imported as paid stays paid until its payments have covered it and one of them is deleted', async () => {
  const made = await imported({ number: 'P2', status: 'paid', paid_at: '2026-01-05' });
  const expectState = async (status: string, amount_paid: string) =>
    expect(await read(made.id)).toMatchObject({ status, amount_paid });
  const remove = (id: number) => deletePayment(base.db, id, { ...writer, source: 'import' });
  const { payment } = await pay(made, 50, 'P2-1');
  await expectState('paid', '119.000');
  await remove(payment.id);
  await expectState('paid', '119.000');
  await pay(made, 50, 'P2-1');
  const rest = await pay(made, 69, 'P2-2');
  await expectState('paid', '119.000');
  expect((await read(made.id)).paid_at).toEqual(made.paid_at);
  expect((await imported({ number: 'P2', status: 'paid' })).version).toBe((await read(made.id)).version);
  await remove(rest.payment.id);
  await expectState('sent', '50.000');
  expect(await base.db.$count(payments, eq(payments.invoice_id, made.id))).toBe(1);
});

test('an invoice settled by payments stays paid when it is imported again as sent', async () => {
  await pay(await imported({ number: 'P3' }), 119, 'P3-1');
  expect((await imported({ number: 'P3' })).status).toBe('paid');
});

const OFFERED = [
  { text: 'Server', quantity: 1, unit_price: 79.9, tax_rate: 19, tax_category: 'S' },
  { text: 'Domain', quantity: 1.5, unit_price: 10, tax_rate: 7 },
];
const keep = async (values: Values, id?: number) =>
  readDocument((await saveRecord(base.db, salesDocumentKind, { ...(id && { id }), values }, writer)).id);
const offer = (values: Values = {}) =>
  keep({ customer_number: 'K1', type: 'offer', lines: OFFERED, ...values });

test('a sales document gets the next number of its type', async () => {
  const made = [await offer(), await offer({ type: 'order_confirmation' }), await offer()];
  const numbers = made.map(({ document_number }) => document_number);
  expect(numbers).toEqual(['AN-2026-0001', 'AB-2026-0001', 'AN-2026-0002']);
  expect(made[0]).toMatchObject({ subtotal: '94.900', tax: '16.230', total: '111.130', status: 'draft' });
});

test('a sent sales document refuses new content, and no sales document skips a status', async () => {
  const { id, document_number } = await offer({ valid_until: '2026-12-31' });
  expect(await problemsOf(keep({ document_number, status: 'accepted' }))).toEqual(['status']);
  await keep({ lines: OFFERED.slice(1) }, id);
  await keep({ status: 'sent' }, id);
  const content = { valid_until: '2027-01-31', lines: OFFERED };
  expect(await problemsOf(keep(content, id))).toEqual(expect.arrayContaining(['valid_until', 'lines']));
  expect(await problemsOf(keep({ status: 'converted' }, id))).toEqual(['status']);
  expect((await keep({ status: 'rejected' }, id)).status).toBe('rejected');
  expect(await problemsOf(keep({ status: 'accepted' }, id))).toEqual(['status']);
});

test('an imported sales document links to the document it was converted to, and is refused with the name of an invalid field', async () => {
  const sums = { lines: undefined, subtotal: 100, tax: 19, total: 119 };
  await offer({ ...sums, document_number: 'X2', type: 'order_confirmation', status: 'sent' });
  const converted = { status: 'converted', converted_to_document_number: 'X2' };
  const first = { ...sums, ...converted, document_number: 'X1' };
  const { version, converted_to_document_id } = await offer(first);
  expect(converted_to_document_id).toBeGreaterThan(0);
  expect((await offer(first)).version).toBe(version);
  const past = { valid_until: '2020-01-01' };
  expect(await problemsOf(offer({ ...past, type: 'bill' }))).toEqual(['type']);
  expect(await problemsOf(offer({ ...past, invoice_number: 'no' }))).toEqual(['invoice_number']);
  expect(await problemsOf(offer(past))).toEqual(['valid_until']);
});

test('an accepted offer can be converted to an order confirmation and then to an invoice', async () => {
  const { id } = await offer();
  for (const status of ['sent', 'accepted']) await keep({ status }, id);
  const confirmation = await convert(await readDocument(id), 'order_confirmation');
  const done = { status: 'converted', converted_to_document_id: confirmation.id };
  expect(await readDocument(id)).toMatchObject(done);
  const made = await readDocument(confirmation.id);
  expect(made).toMatchObject({ type: 'order_confirmation', status: 'draft', total: '111.130' });
  const linesOf = (document: number) => listLines(base.db, 'sales_document', document);
  expect(await linesOf(made.id)).toEqual(await linesOf(id));
  const invoice = await convert(await keep({ status: 'sent' }, made.id), 'invoice');
  const { customer_id } = made;
  const sums = { total: '111.130', amount_due: '111.130' };
  expect(await read(invoice.id)).toMatchObject({ ...sums, status: 'draft', number: null, customer_id });
  expect(await listLines(base.db, 'invoice', invoice.id)).toEqual(await linesOf(id));
  expect(await linesOf(id)).toMatchObject([{ tax_category: 'S' }, { tax_category: null }]);
  expect(await readRows(base.db, auditLog, eq(auditLog.action, 'sales_document.convert'))).toMatchObject([
    { entity_id: id, before: { status: 'accepted' }, after: { status: 'converted' } },
    { entity_id: made.id, after: { converted_to_invoice_id: invoice.id } },
  ]);
});

test('a sales document converted by two writers at once creates one invoice', async () => {
  const accepted = await createSalesDocument(base.db, { status: 'accepted' });
  const known = await base.db.$count(invoices);
  const both = [convert(accepted, 'invoice'), convert(accepted, 'invoice')].map(problemsOf);
  expect((await Promise.all(both)).sort()).toEqual([[], ['precondition_failed']]);
  expect(await base.db.$count(invoices)).toBe(known + 1);
  const { converted_to_invoice_id } = await readDocument(accepted.id);
  const sums = { subtotal: '100.000', tax: '19.000', total: '119.000' };
  expect(await read(converted_to_invoice_id ?? 0)).toMatchObject(sums);
});

test('converting an offer that is not accepted or does not exist is refused', async () => {
  for (const status of ['draft', 'sent', 'rejected', 'expired', 'converted'] as const) {
    const document = await createSalesDocument(base.db, { status });
    expect([status, await problemsOf(convert(document, 'invoice'))]).toEqual([status, ['status']]);
  }
  const missing = { id: 999_999, version: 0 };
  expect(await problemsOf(convert(missing, 'invoice'))).toEqual(['not_found']);
});

const remove = (kind: RecordKind, { id, version }: Seen) =>
  deleteDraft(base.db, kind, { id, version }, writer);

test('a deleted draft invoice leaves no gap in the invoice numbers, and remains in the audit log', async () => {
  const on = { invoice_date: '2022-01-01' };
  const [first, second, third] = [await draft(on), await draft(on), await draft(on)];
  await step('send', first);
  await remove(invoiceKind, second);
  await step('send', third);
  const numbers = [(await read(first.id)).number, (await read(third.id)).number];
  expect(numbers).toEqual(['2022-000001', '2022-000002']);
  const lines = [{ text: 'Hosting' }, { text: 'Discount' }];
  expect((await logOf('invoice', second.id)).at(-1)).toMatchObject({
    ...{ action: 'invoice.delete', before: { total: '107.100', lines }, after: null },
  });
  expect(await problemsOf(remove(invoiceKind, second))).toEqual(['not_found']);
});

test('deleting a document is refused from an outdated version, and if it is not a draft of our own', async () => {
  const made = await draft();
  await save({ due_date: '2026-12-24' }, { id: made.id });
  expect(await problemsOf(remove(invoiceKind, made))).toEqual(['precondition_failed']);
  const ofStripe = { status: 'draft', stripe_invoice_id: 'in_d' } as const;
  for (const values of [{}, { status: 'cancelled' } as const, ofStripe]) {
    const removing = remove(invoiceKind, await createInvoice(base.db, values));
    expect(await problemsOf(removing)).toEqual(['validation_failed']);
  }
  for (const status of ['sent', 'accepted', 'rejected', 'expired', 'converted'] as const) {
    const removing = remove(salesDocumentKind, await createSalesDocument(base.db, { status }));
    expect(await problemsOf(removing)).toEqual(['validation_failed']);
  }
});

test('if a draft invoice is sent and deleted at the same time, only one of the two writes succeeds', async () => {
  for (const isSentFirst of [true, false]) {
    const made = await draft();
    const send = () => problemsOf(step('send', made));
    const deletion = () => problemsOf(remove(invoiceKind, made));
    const results = await Promise.all(
      (isSentFirst ? [send, deletion] : [deletion, send]).map((run) => run()),
    );
    expect(results.map((problems) => problems.length).sort()).toEqual([0, 1]);
    const [kept] = await readRows(base.db, invoices, eq(invoices.id, made.id));
    const wasSent = results[isSentFirst ? 0 : 1]?.length === 0;
    expect(kept?.status).toBe(wasSent ? 'sent' : undefined);
  }
});

test('deleting a draft invoice or order confirmation reopens the offer from which it was converted', async () => {
  const offer = await createSalesDocument(base.db, { type: 'offer', status: 'accepted' });
  const source = () => readDocument(offer.id);
  const confirmation = await convert(await source(), 'order_confirmation');
  await remove(salesDocumentKind, await readDocument(confirmation.id));
  expect(await source()).toMatchObject({ status: 'accepted', converted_to_document_id: null });
  const { id } = await convert(await source(), 'invoice');
  expect(await problemsOf(remove(invoiceKind, { id, version: 7 }))).toEqual(['precondition_failed']);
  expect((await source()).status).toBe('converted');
  await remove(invoiceKind, { id, version: 0 });
  expect(await source()).toMatchObject({ status: 'accepted', converted_to_invoice_id: null });
  const actions = (await logOf('sales_document', offer.id)).map(({ action }) => action.split('.')[1]);
  expect(actions).toEqual(['convert', 'update', 'convert', 'update']);
});

test('deleting a draft invoice gives the order confirmation the status that it had before its last conversion', async () => {
  const { id } = await createSalesDocument(base.db, { type: 'order_confirmation', status: 'sent' });
  const again = async () => {
    await remove(invoiceKind, { ...(await convert(await readDocument(id), 'invoice')), version: 0 });
    return (await readDocument(id)).status;
  };
  expect(await again()).toBe('sent');
  await takeStep(base.db, salesDocumentSteps, 'accept', await readDocument(id), writer);
  expect(await again()).toBe('accepted');
});
