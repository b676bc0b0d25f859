import { text } from 'node:stream/consumers';
import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { accountingEntries, auditLog, creditNoteLines, creditNotes, invoices } from '@/db/schema';
import { commandActor } from '@/lib/audit/audit-log';
import { checkCounts } from '@/lib/counted-list/check-counts';
import { accountingCsv } from '@/lib/exports/accounting-csv';
import { creditNoteList } from '@/lib/invoices/credit-note-list';
import {
  issueCreditNote,
  listCreditNotes,
  toWantedCredit,
  type WantedCredit,
} from '@/lib/invoices/credit-notes';
import { listCustomerCredits } from '@/lib/invoices/customer-balances';
import { invoiceKind, invoiceSteps } from '@/lib/invoices/save-invoices';
import { recordPayment } from '@/lib/payments/write-payment';
import { saveRecord } from '@/lib/records/save-records';
import { takeStep } from '@/lib/records/steps';
import { search } from '@/lib/search/search';
import { unquotedLines } from '../support/csv';
import { readRow, readRows, useDatabase } from '../support/database';
import { createCustomer, createInvoice } from '../support/factories';

const base = useDatabase();
const ISSUED = new Date('2026-10-20T12:00:00Z');
const CREDITED = new Date('2026-11-03T23:30:00Z');
// In this time zone, 23:30 UTC is the next day.
const writer = (now = CREDITED) => ({ actor: commandActor('test'), now, timeZone: 'Europe/Berlin' });

const hosting = { text: 'Webhosting M', quantity: 3, unit_price: 10, tax_rate: 19 };
const domain = { text: 'Domain', quantity: 1, unit_price: 5.05, tax_rate: 7 };
type Line = typeof hosting;

async function issue(lines: Line[] = [hosting, domain]) {
  const { customer_number } = await createCustomer(base.db);
  const values = { customer_number, lines };
  const { id } = await saveRecord(base.db, invoiceKind, { values }, writer(ISSUED));
  await takeStep(base.db, invoiceSteps, 'send', { id, version: 0 }, writer(ISSUED));
  return id;
}

const read = (id: number) => readRow(base.db, invoices, id);
const seen = async (id: number) => ({ id, version: (await read(id)).version });
const credit = async (id: number, lines: WantedCredit['lines'], reason = 'Agreed') =>
  issueCreditNote(base.db, await seen(id), { reason, lines }, writer());
const cancel = async (id: number) => takeStep(base.db, invoiceSteps, 'cancel', await seen(id), writer());
async function pay(id: number, amount: number) {
  const of = { invoice_id: id, customer_id: (await read(id)).customer_id };
  const payment = { ...of, amount, payment_date: '2026-10-25', payment_reference: `BANK-${id}` };
  await recordPayment(base.db, payment, { ...writer(), source: 'staff' });
}
const linesOf = (id: number) =>
  base.db.select().from(creditNoteLines).where(eq(creditNoteLines.credit_note_id, id));

test('a credit note for a quantity has the local day of its issue, and reduces the amount due of its invoice', async () => {
  const id = await issue();
  const note = await credit(id, [{ position: 1, quantity: 2 }]);
  expect(await read(id)).toMatchObject({
    ...{ total: '41.100', amount_credited: '23.800', amount_due: '17.300', status: 'overdue' },
  });
  expect(await readRow(base.db, creditNotes, note)).toMatchObject({
    ...{ kind: 'credit_note', invoice_id: id, date: '2026-11-04', currency: 'eur', reason: 'Agreed' },
    ...{ subtotal: '20.000', tax: '3.800', total: '23.800' },
    number: expect.stringMatching(/^GS-2026-\d{4}$/),
  });
  const line = { text: 'Webhosting M', quantity: '2.000', unit_price: '10.000', tax_category: null };
  expect(await linesOf(note)).toMatchObject([line]);
  const audits = await readRows(base.db, auditLog, eq(auditLog.entity_id, note));
  expect(audits.map(({ action }) => action)).toContain('credit_note.create');
  expect(await checkCounts(base.db)).toEqual([]);
});

test('a credit note settles its invoice if nothing is left to pay, and excess money becomes credit', async () => {
  const paid = { status: 'paid', amount_due: '0.000' };
  const byAmount = await issue([hosting]);
  await pay(byAmount, 23.8);
  await credit(byAmount, [{ position: 1, amount: 10 }]);
  expect(await read(byAmount)).toMatchObject({ ...paid, amount_credited: '11.900' });

  const beforePayment = await issue([hosting]);
  await credit(beforePayment, [{ position: 1, quantity: 1 }]);
  await pay(beforePayment, 23.8);
  expect(await read(beforePayment)).toMatchObject({ ...paid, amount_paid: '23.800' });

  const afterPayment = await issue([hosting]);
  await pay(afterPayment, 35.7);
  await credit(afterPayment, [{ position: 1, quantity: 1 }]);
  const { customer_id, status } = await read(afterPayment);
  expect(status).toBe('paid');
  expect(await listCustomerCredits(base.db, customer_id)).toEqual([{ currency: 'eur', amount: 11.9 }]);
});

test('an invoice with a credit note that a file cancels is taken out of the books once', async () => {
  const id = await issue();
  await credit(id, [{ position: 1, quantity: 1 }]);
  const cancel = { id, values: { status: 'cancelled' } };
  await saveRecord(base.db, invoiceKind, cancel, { ...writer(), importId: null });
  const entries = await readRows(base.db, accountingEntries, eq(accountingEntries.invoice_id, id));
  expect(entries.map(({ record, gross }) => `${record} ${gross}`)).toContain('credit 11.900');
  expect(entries.reduce((sum, { gross }) => sum + Number(gross), 0)).toBeCloseTo(0);
});

test('the form of a credit note names both meanings of an ambiguous amount', () => {
  const line = { position: 2, quantity: 1.5 };
  expect(toWantedCredit({ reason: 'R', quantity_2: '1,5', amount_3: ' ' })).toEqual({
    reason: 'R',
    lines: [line],
  });
  const message = 'can mean 1500 or 1.5: write 1500, or 1.50';
  const error = expect.objectContaining({ fields: [{ field: 'amount_1', message }] });
  expect(() => toWantedCredit({ amount_1: '1.500' })).toThrow(error);
});

test.each([
  ['more than the quantity that is left', [{ position: 1, quantity: 4 }], 'must be at most 3'],
  ['more than the net amount that is left', [{ position: 1, amount: 30.01 }], '30.00 EUR net'],
  ['both a quantity and an amount', [{ position: 1, quantity: 1, amount: 1 }], 'must be empty'],
  ['a fraction of a cent', [{ position: 1, amount: 1.001 }], 'at most 2 decimals'],
  ['a line that the invoice lacks', [{ position: 9, quantity: 1 }], 'no line 9'],
  ['no line', [{ position: 1 }], 'at least one line'],
  ['a negative quantity', [{ position: 1, quantity: -1 }], 'not valid'],
])('a credit note for %s is refused', async (_, lines, problem) => {
  const id = await issue();
  await expect(credit(id, lines)).rejects.toThrow(problem);
  expect(await listCreditNotes(base.db, id)).toEqual([]);
});

test('a credit note is refused if the invoice has changed since its page was opened', async () => {
  const id = await issue();
  const before = await seen(id);
  const lines = [{ position: 1, quantity: 1 }];
  await credit(id, lines);
  const again = issueCreditNote(base.db, before, { reason: 'Again', lines }, writer());
  await expect(again).rejects.toMatchObject({ code: 'precondition_failed' });
});

test.each([
  ['a draft', { status: 'draft', number: null }],
  ['a cancelled invoice', { status: 'cancelled' }],
  ['an invoice of Stripe', { stripe_invoice_id: 'in_1' }],
] as const)('a credit note for %s cannot be issued', async (_, values) => {
  const { id } = await createInvoice(base.db, values);
  await expect(credit(id, [{ position: 1, quantity: 1 }])).rejects.toThrow('Only an issued invoice');
});

test('concurrent credit notes get consecutive numbers, and only one is issued for the same version of an invoice', async () => {
  const [one, two] = [await issue([hosting]), await issue([hosting])];
  await Promise.all([one, two].map((id) => credit(id, [{ position: 1, quantity: 3 }])));
  const numbers = (await readRows(base.db, creditNotes)).map(({ number }) => Number(number.slice(-4)));
  expect(numbers.sort((a, b) => a - b)).toEqual(numbers.map((_, i) => i + 1));
  const state = await seen(await issue([hosting]));
  const wanted = { reason: 'Twice', lines: [{ position: 1, quantity: 2 }] };
  const issuing = [1, 2].map(() => issueCreditNote(base.db, state, wanted, writer()));
  const results = await Promise.allSettled(issuing);
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
});

test('cancelling an invoice issues a cancellation document for the parts of its lines that are not credited yet', async () => {
  const id = await issue();
  await credit(id, [{ position: 1, quantity: 2 }]);
  await credit(id, [{ position: 2, amount: 1 }]);
  await cancel(id);
  expect(await read(id)).toMatchObject({ status: 'cancelled', amount_due: '0.000' });
  const notes = await listCreditNotes(base.db, id);
  expect(notes.map(({ kind }) => kind)).toEqual(['credit_note', 'credit_note', 'cancellation']);
  expect(await linesOf(notes[2]?.id ?? 0)).toMatchObject([
    { invoice_position: 1, quantity: '1.000', unit_price: '10.000' },
    { invoice_position: 2, quantity: '1.000', unit_price: '4.050' },
  ]);
  const sums = (['subtotal', 'tax', 'total'] as const).map((name) =>
    notes.reduce((sum, note) => sum + note[name], 0).toFixed(2),
  );
  expect(sums).toEqual(['35.05', '6.05', '41.10']);
});

test('a cancellation is refused if an imported credit leaves less to credit than the lines add up to', async () => {
  const id = await issue();
  await base.db.update(invoices).set({ amount_credited: '10' }).where(eq(invoices.id, id));
  await expect(cancel(id)).rejects.toThrow('The cancellation adds up to more than 31.10 EUR, which is left');
});

test('a credit note or cancellation of an invoice with a later date has the date of the invoice', async () => {
  const id = await issue();
  await base.db
    .update(invoices)
    .set({ invoice_date: '2027-02-01', due_date: null })
    .where(eq(invoices.id, id));
  await credit(id, [{ position: 1, quantity: 1 }]);
  await cancel(id);
  const later = { date: '2027-02-01', number: expect.stringMatching(/^GS-2027-/) };
  expect(await readRows(base.db, creditNotes, eq(creditNotes.invoice_id, id))).toMatchObject([later, later]);
});

test('the credit notes and the cancellation of an invoice add up to its tax and its total despite rounding', async () => {
  const cents = { text: 'Traffic', quantity: 7, unit_price: 0.07, tax_rate: 19 };
  const id = await issue([cents]);
  for (let i = 0; i < 5; i++) await credit(id, [{ position: 1, quantity: 1 }]);
  await cancel(id);
  const notes = await readRows(base.db, creditNotes, eq(creditNotes.invoice_id, id));
  const sum = (name: 'tax' | 'total') => notes.reduce((all, note) => all + Number(note[name]), 0).toFixed(3);
  expect(await read(id)).toMatchObject({ tax: sum('tax'), total: sum('total') });
});

test('the cancellation of an invoice without lines has the total of the invoice', async () => {
  const { id } = await createInvoice(base.db);
  await cancel(id);
  expect(await listCreditNotes(base.db, id)).toMatchObject([{ kind: 'cancellation', total: 119 }]);
});

test('staff can find a credit note by its number, and filter credit notes by kind, customer and day', async () => {
  const id = await issue();
  await credit(id, [{ position: 1, quantity: 1 }]);
  await cancel(id);
  const [note, cancellation] = await listCreditNotes(base.db, id);
  const { customer_id, number } = await read(id);
  const customer = `#${customer_id}`;
  const listed = async (filters: Parameters<typeof creditNoteList.page>[1]) =>
    (await creditNoteList.page(base.db, filters)).data.map((row) => row.number);
  expect(await listed({ customer })).toEqual([cancellation?.number, note?.number]);
  expect(await listed({ customer, kind: 'credit_note', from: '2026-11-04' })).toEqual([note?.number]);
  expect(await listed({ customer, from: '2026-11-05' })).toEqual([]);
  const of = { invoice_id: id, invoice_number: number, customer: { id: customer_id } };
  const row = { id: note?.id, total: 11.9, ...of };
  expect((await creditNoteList.page(base.db, { number: note?.number })).data).toMatchObject([row]);
  const { only } = await search(base.db, String(note?.number));
  expect(only).toMatchObject({ kind: 'credit_note', id: note?.id });
});

test('the journal posts credit notes and cancellations in the month of their issue, with their own numbers', async () => {
  const id = await issue();
  const october = await exported('2026-10');
  await credit(id, [{ position: 1, quantity: 2 }]);
  await cancel(id);
  expect(await exported('2026-10')).toEqual(october);
  const { number } = await read(id);
  const [note, cancellation] = await listCreditNotes(base.db, id);
  const posted = (await exported('2026-11')).filter((line) => line.includes(String(number)));
  expect(posted.map((line) => line.split(',').slice(0, 4))).toEqual([
    ...[1, 2].map(() => ['invoice', 'cancelled', '2026-11-04', '2026-11-04']),
    ['credit', 'credited', '2026-11-04', '2026-11-04'],
  ]);
  const amounts = posted.map((line) => line.split(',').slice(8, 15));
  expect(amounts).toEqual([
    [number, cancellation?.number, '', '19', '-10.00', '-1.90', '-11.90'],
    [number, cancellation?.number, '', '7', '-5.05', '-0.35', '-5.40'],
    [number, note?.number, '', '19', '-20.00', '-3.80', '-23.80'],
  ]);
  const entries = await readRows(base.db, accountingEntries, eq(accountingEntries.invoice_id, id));
  expect(entries.reduce((sum, { gross }) => sum + Number(gross), 0)).toBeCloseTo(0, 3);
});

async function exported(month: string): Promise<string[]> {
  return unquotedLines((await text(accountingCsv(base.db, month))).trim());
}
