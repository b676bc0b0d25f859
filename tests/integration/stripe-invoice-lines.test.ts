import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { creditNotes, invoices, stripeInvoiceLines } from '@/db/schema';
import { describeCreditNoteDocument } from '@/lib/documents/invoice-document';
import { listStripeLines, stripeLineTotals } from '@/lib/invoices/lines';
import { getInvoice } from '@/lib/invoices/queries';
import { readRows } from '../support/database';
import * as act from '../support/stripe-actions';
import { typed, useSync } from '../support/sync';

const sync = useSync();
const OLDER = '2020-08-27';

const many = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ amount: 1000 + i, discount: i % 3, description: `Line ${i}` }));

/** Creates a finalized invoice at Stripe. Its tax is 19 % of the net amount. */
function finalize(count: number) {
  sync.later(60);
  const customer = act.createCustomer(sync.world).object.id;
  const lines = many(count);
  const net = lines.reduce((sum, line) => sum + line.amount - line.discount, 0);
  const { object } = act.createInvoice(sync.world, { customer, lines, tax: Math.round(net * 0.19) });
  const { events } = act.finalizeInvoice(sync.world, object.id);
  return { id: object.id, event: typed(events, 'invoice.finalized') };
}

async function stored(stripeId: string) {
  const row = await sync.invoiceOf(stripeId);
  if (!row) throw new Error(`there is no row of ${stripeId}`);
  const { invoice_id, position } = stripeInvoiceLines;
  const ofRow = eq(invoice_id, row.id);
  const lines = await sync.db.select().from(stripeInvoiceLines).where(ofRow).orderBy(position);
  return { row, lines };
}

async function totalsOf({ row: { id } }: Awaited<ReturnType<typeof stored>>) {
  return stripeLineTotals(await getInvoice(sync.db, id), await listStripeLines(sync.db, id));
}
/** Pays an invoice and passes its events to sync. */
async function pay(id: string) {
  for (const event of act.payInvoice(sync.world, id).events) await sync.take(event, { withKey: true });
}

const linesAsked = (id: string) =>
  sync.api.requests.filter(({ path }) => path === `/v1/invoices/${id}/lines`);

test.each([
  ['the newest API version', undefined],
  ['an older API version', OLDER],
])('an invoice event of %s stores its lines without requesting them from Stripe', async (_, version) => {
  const { id, event } = finalize(3);
  await sync.take(event, { version, withKey: true });
  const found = await stored(id);
  expect(found.row.lines_complete).toBe(true);
  const lines = found.lines.map(({ description, discount }) => `${description}: ${discount}`);
  expect(lines).toEqual(['Line 0: 0.000', 'Line 1: 0.010', 'Line 2: 0.020']);
  expect(found.lines[0]?.taxes).toMatchObject([{ amount: '1.90', rate: '19', inclusive: false }]);
  expect(linesAsked(id)).toHaveLength(0);
  expect(await totalsOf(found)).toMatchObject({ total: found.row.total, gap: null });
});

test('sync fetches the lines of an invoice with more than ten lines at its first event, and not again at later events', async () => {
  const { id, event } = finalize(130);
  await sync.take(event, { withKey: true });
  const found = await stored(id);
  const names = (lines: { description: string | null }[]) => lines.map(({ description }) => description);
  expect(names(found.lines)).toEqual(names(many(130)));
  expect(linesAsked(id)).toHaveLength(2);
  expect(await totalsOf(found)).toMatchObject({ total: found.row.total, gap: null });
  sync.later(60);
  await pay(id);
  expect(linesAsked(id)).toHaveLength(2);
  expect((await stored(id)).lines).toEqual(found.lines);
});

test('the next reconciliation fetches the invoice lines beyond the ten that an event contains', async () => {
  const { id, event } = finalize(12);
  await sync.take(event);
  const before = await stored(id);
  expect([before.lines.length, before.row.lines_complete]).toEqual([10, false]);
  expect(await totalsOf(before)).toMatchObject({ gap: 'lines' });
  await sync.run();
  const after = await stored(id);
  expect([after.lines.length, after.row.lines_complete]).toEqual([12, true]);
  expect((await sync.run()).changes).toBe(0);
});

test('reconciliation fetches the lines of an old paid invoice that was stored without lines', async () => {
  const { id, event } = finalize(2);
  await sync.take(event, { withKey: true });
  await pay(id);
  const { row, lines } = await stored(id);
  await sync.run();
  await sync.db.delete(stripeInvoiceLines).where(eq(stripeInvoiceLines.invoice_id, row.id));
  const unknown = { lines_hash: null, lines_complete: false };
  await sync.db.update(invoices).set(unknown).where(eq(invoices.id, row.id));
  sync.later(30 * 86_400);
  await sync.run();
  await sync.night();
  const after = await stored(id);
  expect(after.row.lines_complete).toBe(true);
  expect(after.lines.map(({ id: _, ...line }) => line)).toEqual(lines.map(({ id: _, ...line }) => line));
});

test('the gap between a Stripe invoice and its lines is the amount, the tax, or missing lines', () => {
  const line = { description: null, period_start: null, period_end: null, quantity: '1' };
  const amounts = { amount: '10.000', discount: '0.000', net: '10.000', tax: '0.000', taxes: [] };
  const gapOf = (subtotal: number, tax: number, lines_complete = true) =>
    stripeLineTotals({ subtotal, tax, lines_complete }, [{ ...line, ...amounts }]).gap;
  expect(gapOf(10, 0)).toBeNull();
  expect(gapOf(10, 1.9)).toBe('tax');
  expect(gapOf(9, 0)).toBe('amount');
  expect(gapOf(10, 0, false)).toBe('lines');
});

test('a reconciliation stores a Stripe credit note with its lines, and marks it as void even if Stripe voids it a month later', async () => {
  const { id, event } = finalize(1);
  await sync.take(event);
  const note = act.createCreditNote(sync.world, { invoice: id, amount: 500 }).object;
  const read = () => readRows(sync.db, creditNotes, eq(creditNotes.stripe_credit_note_id, note.id));
  await sync.run();
  const { row } = await stored(id);
  const line = { description: 'Credit', quantity: '1', amount: '5.00', discount: '0.00', taxes: [] };
  const of = { number: note.number, invoice_id: row.id, customer_id: row.customer_id };
  const kept = await read();
  const amounts = { total: '5.000', tax: '0.000', stripe_lines: [line], voided_at: null };
  expect(kept).toMatchObject([{ ...of, ...amounts }]);
  await sync.run();
  expect(await read()).toEqual(kept);
  sync.later(30 * 86_400);
  await sync.run(); // The window of the next run begins after the credit note.
  act.voidCreditNote(sync.world, note.id);
  await sync.run();
  expect(await read()).toMatchObject([{ number: note.number, voided_at: expect.any(Date) }]);
  const document = await describeCreditNoteDocument(sync.db, kept[0]?.id ?? 0);
  expect(document).toMatchObject({ reasons: ['Stripe voided it.'] });
});

test('a reconciliation lists credit notes from the date of the oldest invoice whose credit notes are not all stored', async () => {
  const { id, event } = finalize(1);
  await sync.take(event);
  const [first] = [100, 200].map(
    (amount) => act.createCreditNote(sync.world, { invoice: id, amount }).object,
  );
  await sync.run();
  const { row } = await stored(id);
  const ofInvoice = eq(creditNotes.invoice_id, row.id);
  sync.later(30 * 86_400);
  await sync.run(); // The window of the next run begins after the credit notes.
  await sync.db.delete(creditNotes).where(eq(creditNotes.stripe_credit_note_id, first?.id ?? ''));
  await sync.run();
  expect(await sync.db.$count(creditNotes, ofInvoice)).toBe(2);
  const listed = sync.api.requests.filter(({ path }) => path === '/v1/credit_notes').at(-1);
  const dayBefore = Date.parse(row.invoice_date) / 1000 - 86_400;
  expect(listed?.query).toMatchObject({ 'created[gte]': String(dayBefore) });
});
