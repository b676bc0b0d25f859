import { asc, eq, inArray } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { auditLog, invoices, payments, refunds } from '@/db/schema';
import { commandActor } from '@/lib/audit/record-audit';
import { paymentImport } from '@/lib/imports/books/payment-import';
import { saveBatch } from '@/lib/imports/save-batch';
import { useDatabase } from '../support/database';
import { createCustomer, createInvoice } from '../support/factories';

const base = useDatabase();
const writer = { actor: commandActor('test'), now: new Date('2026-03-15T12:00:00Z'), timeZone: 'UTC' };

type Invoice = Parameters<typeof createInvoice>[1];
const PAID = { status: 'paid', amount_paid: '119', amount_due: '0' } as const;
const INVOICES: Record<string, Invoice> = {
  open: {},
  paid: PAID,
  cancelled: { status: 'cancelled' },
  draft: { status: 'draft', number: null },
  stripe: { stripe_invoice_id: 'in_1' },
  large: { total: '999999999.000', amount_due: '999999999.000' },
};

type Given = [reference: string, invoice: string, amount: number, more?: Record<string, unknown>];
/** Each list is a file of its own. */
const FILES: Given[][] = [
  [
    ['FIRST', 'open', 19],
    ['SECOND', 'open', 50, { status: 'failed' }],
    ['THIRD', 'open', 40.5, { refunded_amount: 0.5, refunded_at: '2026-03-09' }],
    ['PART', 'paid', 50],
    ['REST', 'paid', 69],
    ['MORE', 'paid', 30],
    ['EARLIER', 'cancelled', 119, { status: 'refunded' }],
    ['NONE', 'draft', 119],
    ['THEIRS', 'stripe', 20],
    ['TOO EXACT', 'open', 1.001],
    ['BACK', 'open', 10, { refund_of: 'THIRD' }],
    ['TOO MUCH BACK', 'open', 500, { refund_of: 'THIRD' }],
  ],
  [
    ['FIRST', 'open', 19],
    ['THIRD', 'open', 100],
    ['SECOND', 'open', 50, { status: 'completed' }],
    ['PART', 'paid', 20],
    ['NEW', 'paid', 1],
    ['BACK', 'open', 10, { refund_of: 'THIRD' }],
  ],
];

/** The same rows to invoices of their own, so many at once, and all that became of them. */
async function write(prefix: string, atOnce: number) {
  const { id: customer_id } = await createCustomer(base.db);
  const numbers = new Map<string, Record<string, string>>();
  const ids: number[] = [];
  for (const [name, given] of Object.entries(INVOICES)) {
    const stripe = given?.stripe_invoice_id ? { stripe_invoice_id: `${prefix}-in` } : {};
    const number = given && 'number' in given ? {} : { number: `${prefix}-${name}` };
    const { id } = await createInvoice(base.db, { customer_id, ...given, ...number, ...stripe });
    ids.push(id);
    numbers.set(name, stripe.stripe_invoice_id ? stripe : { invoice_number: `${prefix}-${name}` });
  }
  const outcomes: string[] = [];
  for (const file of FILES) {
    const drafts = file.map(([reference, invoice, amount, more]) => ({
      values: {
        payment_reference: `${prefix}-${reference}`,
        ...numbers.get(invoice),
        amount,
        payment_date: '2026-03-10',
        ...more,
        ...(more?.refund_of !== undefined && { refund_of: `${prefix}-${more.refund_of}` }),
      },
    }));
    for (let i = 0; i < drafts.length; i += atOnce) {
      const batch = drafts.slice(i, i + atOnce);
      const saved = await saveBatch(base.db, paymentImport, batch, { ...writer, importId: 1 }, false);
      outcomes.push(...saved.map((one) => ('problems' in one ? JSON.stringify(one.problems) : one.outcome)));
    }
  }
  const stored = await base.db
    .select()
    .from(payments)
    .where(inArray(payments.invoice_id, ids))
    .orderBy(asc(payments.payment_reference));
  const paymentIds = stored.map(({ id }) => id);
  const nameOf = (id: number | null) => stored.find((one) => one.id === id)?.payment_reference;
  const told = {
    outcomes,
    payments: stored,
    invoices: await base.db
      .select()
      .from(invoices)
      .where(inArray(invoices.id, ids))
      .orderBy(asc(invoices.id)),
    refunds: (
      await base.db
        .select()
        .from(refunds)
        .where(inArray(refunds.payment_id, paymentIds))
        .orderBy(asc(refunds.id))
    ).map((refund) => `${nameOf(refund.payment_id)} ${refund.amount} ${refund.issued_at?.toISOString()}`),
    audit: (
      await base.db.select().from(auditLog).where(eq(auditLog.entity, 'payment')).orderBy(asc(auditLog.id))
    )
      .filter(({ entity_id }) => paymentIds.includes(entity_id))
      .map(({ action, actor_name, before, after }) => ({ action, actor_name, before, after })),
  };
  const ours = JSON.stringify(told, (key, value) =>
    /^(id|\w+_at|customer_id|invoice_id|version)$/.test(key) && key !== 'paid_at' ? undefined : value,
  );
  const { audit, refunds: back, ...rest } = JSON.parse(ours.replaceAll(`${prefix}-`, ''));
  // Whether they were written together shows in the order alone.
  const sorted = (list: unknown[]) => list.map((one) => JSON.stringify(one)).sort();
  return { ...rest, audit: sorted(audit), refunds: sorted(back) };
}

test('payments written together become what they become one by one', async () => {
  const together = await write('T', 100);
  expect(together).toEqual(await write('O', 1));
  expect(together.outcomes.slice(0, 12)).toEqual([
    ...Array(7).fill('created'),
    expect.stringContaining('invoice_number'),
    'created',
    expect.stringContaining('decimals'),
    'created',
    expect.stringContaining('more than is left'),
  ]);
  expect(together.outcomes.slice(12)).toEqual([
    'unchanged',
    'changed',
    'changed',
    'changed',
    'created',
    'unchanged',
  ]);
});

test('of payments that together are too much for an invoice, the one is told that is', async () => {
  const { id: customer_id } = await createCustomer(base.db);
  await createInvoice(base.db, { customer_id, number: 'SUM', total: '1', amount_due: '1' });
  const drafts = Array.from({ length: 3 }, (_, i) => ({
    values: {
      payment_reference: `SUM-${i}`,
      invoice_number: 'SUM',
      amount: 400_000_000_000,
      payment_date: '2026-03-10',
    },
  }));
  const saved = await saveBatch(base.db, paymentImport, drafts, { ...writer, importId: 1 }, false);
  expect(saved).toMatchObject([
    { outcome: 'created' },
    { outcome: 'created' },
    {
      outcome: 'refused',
      problems: [{ field: 'amount', message: expect.stringContaining('add up to more') }],
    },
  ]);
});
