import assert from 'node:assert/strict';
import { and, eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { auditLog, invoices, payments } from '@/db/schema';
import { send, type Target } from '../load';
import { type Door, type Operation, openInvoices, paymentFor, post } from './operations';

const REFERENCE = 'BENCH-SAME';

// Of each write its own.
const OWN = ['id', 'entity_id', 'created_at', 'updated_at', 'paid_at', 'version'];

/** What only reads is answered with the same JSON everywhere. */
export async function requireSameReads(operations: Operation[]): Promise<void> {
  for (const { targets } of operations.filter(({ targets: [first] }) => first?.method === 'GET')) {
    requireEqual(await Promise.all(targets.map(answerOf)));
  }
}

/** A payment recorded and then changed through each door is answered alike and leaves the same rows. */
export async function requireSameWrites(db: Database, doors: Door[], token: string): Promise<void> {
  const [invoice] = await openInvoices(db);
  assert(invoice, 'no invoice takes a payment');
  const outcomes: unknown[] = [];
  for (const door of doors) {
    await db.delete(payments).where(eq(payments.payment_reference, REFERENCE));
    await db
      .update(invoices)
      .set({ status: 'sent', amount_paid: '0', amount_due: invoices.total, paid_at: null })
      .where(eq(invoices.id, invoice.id));
    const record = (amount: number) =>
      answerOf(post(door, token, () => JSON.stringify(paymentFor(invoice, REFERENCE, amount))));
    const answers = [await record(3), await record(1_000_000)];
    outcomes.push(withoutOwn({ answers, ...(await rowsOf(db, invoice.id)) }));
  }
  requireEqual(outcomes);
}

async function answerOf(target: Target) {
  const { status, body } = await send(target);
  return { status, body: JSON.parse(body) };
}

async function rowsOf(db: Database, invoiceId: number) {
  const [payment] = await db.select().from(payments).where(eq(payments.payment_reference, REFERENCE));
  assert(payment, 'no payment was left');
  const ofPayment = and(eq(auditLog.entity, 'payment'), eq(auditLog.entity_id, payment.id));
  return {
    payment,
    invoice: await db.select().from(invoices).where(eq(invoices.id, invoiceId)),
    audit: await db.select().from(auditLog).where(ofPayment).orderBy(auditLog.id),
  };
}

/** What each write has of its own is compared by its form alone. */
function withoutOwn(outcome: unknown): unknown {
  const form = (value: unknown) => JSON.stringify(value).replace(/\d+/g, '0');
  return JSON.parse(JSON.stringify(outcome, (key, value) => (OWN.includes(key) ? form(value) : value)));
}

function requireEqual(outcomes: unknown[]): void {
  for (const outcome of outcomes) assert.deepEqual(outcome, outcomes[0]);
}
