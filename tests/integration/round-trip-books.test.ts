import { eq } from 'drizzle-orm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Database } from '@/db/database';
import { invoices } from '@/db/schema';
import { commandActor } from '@/lib/audit/record-audit';
import { EXPORT_NAMES } from '@/lib/exports/kinds';
import { invoiceKind } from '@/lib/invoices/save-invoices';
import { invoiceSteps } from '@/lib/invoices/typed-invoice';
import { recordPayment } from '@/lib/payments/record-payment';
import { saveRecord } from '@/lib/records/save-records';
import { takeStep } from '@/lib/records/take-step';
import { convertDocument } from '@/lib/sales-documents/convert';
import { getSalesDocument } from '@/lib/sales-documents/get-sales-document';
import { salesDocumentKind } from '@/lib/sales-documents/save-sales-documents';
import { createCustomer, createInvoice, createPayment, createRefund } from '../support/factories';
import { useTwoDatabases } from '../support/two-databases';

const NOW = new Date('2026-03-15T12:00:00Z');
const WRITER = { actor: commandActor('test'), now: NOW, timeZone: 'UTC' };

const cents = (max: number) => fc.integer({ min: 1, max }).map((drawn) => drawn / 100);
const line = fc.record({
  text: fc.constantFrom('Web "M"', '=Setup', 'Ä, ö; ü'),
  quantity: fc.integer({ min: 1, max: 9000 }).map((drawn) => drawn / 1000),
  unit_price: cents(99_999),
  tax_rate: fc.constantFrom(0, 7, 19),
});
const content = fc.oneof(
  fc.record({ lines: fc.array(line, { minLength: 1, maxLength: 4 }) }),
  fc.record({ subtotal: cents(99_999), tax: cents(9_999) }),
);
const date = fc.constantFrom('2026-01-31', '2026-02-28', '2026-03-14');
const payment = fc.record({
  part: fc.constantFrom(0.25, 0.5, 1),
  back: fc.constantFrom(0, 0, 0.5, 1),
  status: fc.constantFrom('completed', 'completed', 'failed', 'pending'),
  date,
});
const invoice = fc.record({
  content,
  status: fc.constantFrom('draft', 'sent', 'paid'),
  currency: fc.constantFrom('eur', 'usd'),
  invoice_date: date,
  due_date: fc.constantFrom(null, '2026-03-14', '2026-04-01'),
  payments: fc.array(payment, { maxLength: 3 }),
  isCancelled: fc.boolean(),
});
const document = fc.record({
  content,
  status: fc.constantFrom('draft', 'sent', 'accepted', 'rejected'),
  becomes: fc.constantFrom('order_confirmation', 'invoice'),
  document_date: date,
  valid_until: fc.constantFrom(null, '2026-04-01'),
});
const world = fc.record({
  invoices: fc.array(invoice, { minLength: 1, maxLength: 5 }),
  documents: fc.array(document, { minLength: 1, maxLength: 3 }),
  stripes: fc.array(fc.record({ isDraft: fc.boolean(), back: fc.constantFrom(0, 5, 10) }), { maxLength: 2 }),
});

let drawn = 0;
const key = (prefix: string) => `${prefix}${++drawn}`;

async function addInvoice(db: Database, customer: Customer, drawn: Drawn['invoices'][number]) {
  const { content, payments, isCancelled, status, ...rest } = drawn;
  const values = { ...rest, ...content, status, customer_number: customer.customer_number };
  const { id } = await saveRecord(db, invoiceKind, { values }, WRITER);
  if (status === 'draft') return;
  for (const { part, back, status, date } of payments) {
    const amount = Math.ceil(part * 10_000) / 100;
    const input = {
      invoice_id: id,
      customer_id: customer.id,
      payment_reference: key('+P'),
      payment_date: date,
    };
    const isBack = status === 'completed' && back > 0;
    const writer = { ...WRITER, source: 'api', refundedAt: new Date(`${date}T09:30:00.123Z`) } as const;
    await recordPayment(db, { ...input, amount, status, ...(isBack && { cameBack: amount * back }) }, writer);
  }
  const seen = await readVersion(db, id);
  if (isCancelled && Number(seen.amount_paid) === 0 && seen.status !== 'paid')
    await takeStep(db, invoiceSteps, 'cancel', seen, WRITER);
}

async function addDocument(db: Database, { customer_number }: Customer, drawn: Drawn['documents'][number]) {
  const { content, becomes, ...rest } = drawn;
  const values = { ...rest, ...content, type: 'offer', customer_number };
  const { id } = await saveRecord(db, salesDocumentKind, { values }, WRITER);
  const { version, status } = await getSalesDocument(db, id);
  if (status === 'accepted') await convertDocument(db, { id, version, to: becomes as 'invoice' }, WRITER);
}

/** As sync leaves them. */
async function addStripes(db: Database, customer_id: number, { isDraft, back }: Drawn['stripes'][number]) {
  const { id } = await createInvoice(db, {
    customer_id,
    stripe_invoice_id: key('in_'),
    stripe_customer_id: 'cus_1',
    amount_credited: '1',
    ...(isDraft
      ? { status: 'draft', number: null }
      : { status: 'overdue', payment_failed_at: NOW, uncollectible: true }),
  });
  if (isDraft) return;
  const refunded = { status: back === 10 ? 'refunded' : 'completed', refunded_amount: String(back) } as const;
  const { id: payment_id } = await createPayment(db, {
    invoice_id: id,
    customer_id,
    source: 'stripe',
    ...refunded,
  });
  for (const amount of back === 10 ? ['4', '6'] : back > 0 ? [String(back)] : []) {
    await createRefund(db, { payment_id, amount });
  }
}

async function readVersion(db: Database, id: number) {
  const [found] = await db.select().from(invoices).where(eq(invoices.id, id));
  if (!found) throw new Error('the invoice is gone');
  return found;
}

type Drawn = typeof world extends fc.Arbitrary<infer T> ? T : never;
type Customer = Awaited<ReturnType<typeof createCustomer>>;

describe('exported books', () => {
  const two = useTwoDatabases();
  /** The rows of a file, in any order: what a document became is imported before it. */
  const read = (name: string) => two.read(name).split('\r\n').sort();

  test('are the same after they were imported into another database', async () => {
    const customer = await createCustomer(two.from);
    await fc.assert(
      fc.asyncProperty(world, async ({ invoices, documents, stripes }) => {
        for (const one of invoices) await addInvoice(two.from, customer, one);
        for (const one of documents) await addDocument(two.from, customer, one);
        for (const one of stripes) await addStripes(two.from, customer.id, one);
        await two.run(two.from, 'export', ['all', 'out']);
        for (const kind of EXPORT_NAMES) await two.run(two.to, 'import', [kind, `out/${kind}.csv`]);
        await two.run(two.to, 'export', ['all', 'again']);
        for (const kind of EXPORT_NAMES) expect(read(`again/${kind}.csv`)).toEqual(read(`out/${kind}.csv`));
      }),
      { numRuns: 8 },
    );
    for (const db of [two.from, two.to]) {
      for (const kind of EXPORT_NAMES) {
        const said = await two.run(db, 'import', [kind, `out/${kind}.csv`]);
        expect(said.at(-1)).toMatch(/: 0 new, 0 changed, \d+ unchanged, 0 rejected\.$/);
      }
    }
  }, 240_000);
});
