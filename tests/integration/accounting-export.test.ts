import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { invoiceLines, payments } from '@/db/schema';
import { useDatabase } from '../support/database';
import {
  createCustomer,
  createDispute,
  createInvoice,
  createPayment,
  createRefund,
} from '../support/factories';
import { runCommandHere } from '../support/run-command';

const base = useDatabase();
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'w5t-accounting-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (...args: string[]) =>
  runCommandHere(base.db, 'export', ['accounting', ...args], { cwd: folder });

const HEADER =
  '\ufeffrecord,date,customer_number,customer_name,invoice_number,status,due_date,tax_rate,net,tax,gross,currency,amount_credited,payment_reference,method';

test('holds a month: invoices by rate, payments, and what came back', async () => {
  const { db } = base;
  const { id: customer_id } = await createCustomer(db, { customer_number: 'K1', company: '=Weiß, "AG"' });
  const on = { customer_id, invoice_date: '2026-10-01', due_date: '2026-10-15' };
  const lined = await createInvoice(db, {
    ...on,
    number: 'R1',
    subtotal: '0.3',
    tax: '0.02',
    total: '0.32',
    amount_credited: '0.1',
  });
  const line = { invoice_id: lined.id, quantity: '1' };
  await db.insert(invoiceLines).values([
    { ...line, position: 1, text: 'Hosting', unit_price: '0.1', tax_rate: '19' },
    { ...line, position: 2, text: 'Book', unit_price: '0.2', tax_rate: '0' },
  ]);
  const yen = { currency: 'jpy', subtotal: '1000', tax: '100', total: '1100' };
  await createInvoice(db, { ...on, ...yen, number: 'R2', invoice_date: '2026-10-31', status: 'cancelled' });
  await createInvoice(db, { ...on, number: null, status: 'draft' });
  await createInvoice(db, { ...on, number: 'R0', invoice_date: '2026-09-30' });
  await createInvoice(db, { ...on, number: 'R3', invoice_date: '2026-11-01' });
  const paid = { invoice_id: lined.id, customer_id, payment_date: '2026-10-31', amount: '0.32' };
  await createPayment(db, { ...paid, payment_reference: 'P1', source: 'stripe' });
  await createPayment(db, { ...paid, payment_reference: 'P2', status: 'failed' });
  const old = { ...paid, payment_date: '2026-08-01', status: 'refunded', amount: '5' } as const;
  const earlier = await createPayment(db, { ...old, payment_reference: 'P0', refunded_amount: '5' });
  const back = { payment_id: earlier.id, status: 'succeeded' } as const;
  await createRefund(db, { ...back, amount: '2', issued_at: new Date('2026-09-30T12:00:00Z') });
  await createRefund(db, { ...back, amount: '2.5', issued_at: new Date('2026-10-31T23:30:00Z') });
  await createDispute(db, {
    payment_id: earlier.id,
    status: 'lost',
    amount: '4',
    issued_at: new Date('2026-10-31T23:40:00Z'),
  });

  const { code, said } = await run('--month', '2026-10');
  expect(code).toBe(0);
  expect(said.map((text) => text.replace('\r', ''))).toEqual([
    HEADER,
    'invoice,2026-10-01,K1,"\'=Weiß, ""AG""",R1,sent,2026-10-15,19,0.1,0.02,0.12,eur,0.1,,',
    'invoice,2026-10-01,K1,"\'=Weiß, ""AG""",R1,sent,2026-10-15,0,0.2,0,0.2,eur,,,',
    'invoice,2026-10-31,K1,"\'=Weiß, ""AG""",R2,cancelled,2026-10-15,,1000,100,1100,jpy,0,,',
    'payment,2026-10-31,K1,"\'=Weiß, ""AG""",R1,completed,,,,,0.32,eur,,P1,stripe',
    'refund,2026-10-31,K1,"\'=Weiß, ""AG""",R1,refunded,,,,,-2.5,eur,,P0,api',
    'refund,2026-10-31,K1,"\'=Weiß, ""AG""",R1,refunded,,,,,-0.5,eur,,P0,api',
  ]);
});

test('goes into a file, and reads on behind a batch', async () => {
  const { id: invoice_id, customer_id } = await createInvoice(base.db, { invoice_date: '2025-01-01' });
  const on = { invoice_id, customer_id, payment_date: '2025-02-14', amount: '1', source: 'api' } as const;
  const many = Array.from({ length: 1001 }, (_, i) => ({ ...on, payment_reference: `MANY-${i}` }));
  await base.db.insert(payments).values(many);
  expect(await run('--month', '2025-02', '--out', 'feb.csv')).toEqual({ code: 0, said: [] });
  expect(readFileSync(join(folder, 'feb.csv'), 'utf8').split('\r\n')).toHaveLength(1003);
  expect((await run('--month', '1999-12')).said).toEqual([`${HEADER}\r`]);
});

test.each([[[]], [['--month', '2026-13']], [['--month', '2026-1']], [['--month', '0000-01']]])(
  'asks for a month instead of %j',
  async (args) => {
    expect(await run(...args)).toEqual({ code: 1, said: ['--month must be a month such as 2026-10.'] });
  },
);
