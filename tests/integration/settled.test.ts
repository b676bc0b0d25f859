import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { invoiceStatus, invoices, payments } from '@/db/schema';
import { settleInvoice } from '@/lib/invoices/settle-invoice';
import { paidWithout, settled } from '@/lib/invoices/settled';
import { useDatabase } from '../support/database';
import { createInvoice, createPayment } from '../support/factories';

const base = useDatabase();
const at = { today: '2026-03-15', now: new Date('2026-03-15T12:00:00Z') };
const EARLIER = new Date('2026-03-01T09:00:00Z');

/** Amounts, and what came back of them, of an invoice of 119. */
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

test.each(invoiceStatus.enumValues)(
  'of an invoice that is %s is made what the database makes of it',
  async (status) => {
    for (const due_date of [null, '2026-03-14', '2026-03-15']) {
      for (const paid_at of [null, EARLIER]) {
        for (const made of PAYMENTS) {
          const invoice = await createInvoice(base.db, { status, due_date, paid_at, total: '119' });
          for (const [amount, refunded_amount, status] of made) {
            const { id: invoice_id, customer_id } = invoice;
            await createPayment(base.db, { invoice_id, customer_id, amount, refunded_amount, status });
          }
          const ofInvoice = await base.db.select().from(payments).where(eq(payments.invoice_id, invoice.id));
          await settleInvoice(base.db, invoice.id, at);
          const [stored] = await base.db.select().from(invoices).where(eq(invoices.id, invoice.id));
          expect(stored).toMatchObject(settled(invoice, ofInvoice, at));
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
])('of %s imported as paid with payments of %j is made the same', async (amount_paid, amounts) => {
  const invoice = await createInvoice(base.db, { status: 'paid', amount_paid, paid_at: EARLIER });
  const on = { invoice_id: invoice.id, customer_id: invoice.customer_id };
  for (const amount of amounts) await createPayment(base.db, { ...on, amount });
  const ofInvoice = await base.db.select().from(payments).where(eq(payments.invoice_id, invoice.id));
  const without = paidWithout(invoice, ofInvoice.slice(0, -1));
  await settleInvoice(base.db, invoice.id, { ...at, change: amounts.at(-1) ?? '0' });
  const [stored] = await base.db.select().from(invoices).where(eq(invoices.id, invoice.id));
  expect(stored).toMatchObject(settled(invoice, ofInvoice, at, without));
  expect(Number(stored?.amount_paid)).toBe(Math.max(Number(amount_paid), ...sums(amounts)));
});

const sums = (amounts: string[]) => [amounts.reduce((sum, one) => sum + Number(one), 0)];
