import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { customerServices, invoices, payments, refunds } from '@/db/schema';
import { useDatabase } from '../support/database';
import { runCommandHere } from '../support/run-command';

const EXAMPLES = join(import.meta.dirname, '../../docs/examples');

describe('the examples of docs/examples', () => {
  const base = useDatabase();
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'w5t-examples-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function run(kind: string, file: string, ...options: string[]) {
    copyFileSync(join(EXAMPLES, file), join(folder, file));
    return (await runCommandHere(base.db, 'import', [kind, file, ...options], { cwd: folder })).said;
  }

  test('are imported as the README says', async () => {
    const all = (n: number) =>
      expect.stringMatching(new RegExp(`: ${n} new, 0 changed, 0 unchanged, 0 rejected\\.$`));
    expect(await run('customers', 'customers.csv')).toEqual([all(2)]);
    expect(await run('servers', 'servers.csv')).toEqual([all(1)]);
    const map = ['--map', 'Vertrag=service_number', '--map', 'Kunde=customer_number', '--decimal-comma'];
    expect(await run('services', 'services.csv', ...map)).toEqual([all(2)]);
    expect(await run('invoices', 'invoices.csv')).toEqual([all(3)]);
    expect(await run('invoice-lines', 'invoice-lines.csv')).toEqual([all(3)]);
    expect(await run('sales-documents', 'sales-documents.csv')).toEqual([all(1)]);
    expect(await run('sales-document-lines', 'sales-document-lines.csv')).toEqual([all(2)]);
    expect(await run('payments', 'payments.csv')).toEqual([all(1)]);
    const stored = await base.db.select().from(invoices).orderBy(invoices.id);
    expect(stored).toMatchObject([
      { number: '2026-00001', status: 'paid', amount_paid: '11.780', amount_due: '0.000' },
      { number: '2025-00417', status: 'paid', paid_at: new Date('2025-11-12'), amount_due: '0.000' },
      { number: null, status: 'draft', amount_due: '1015.000' },
    ]);
  });

  test('change nothing when they are imported again', async () => {
    for (const [kind, rows] of [
      ['invoices', 3],
      ['invoice-lines', 3],
      ['sales-documents', 1],
      ['sales-document-lines', 2],
      ['payments', 1],
    ] as const) {
      expect(await run(kind, `${kind}.csv`)).toEqual([
        expect.stringMatching(new RegExp(`: 0 new, 0 changed, ${rows} unchanged, 0 rejected\\.$`)),
      ]);
    }
  });

  test('of WHMCS, too', async () => {
    expect(await run('customers', 'whmcs-clients.csv', '--format', 'whmcs')).toEqual([
      'Left out: Address 2, State, Currency, Client Group ID, Credit, Creation Date, Notes.',
      expect.stringMatching(/: 2 new, .* 0 rejected\.$/),
    ]);
    expect(
      (await run('services', 'whmcs-services.csv', '--format', 'whmcs', '--set', 'currency=usd')).at(-1),
    ).toMatch(/: 2 new, .* 0 rejected\.$/);
    const services = await base.db
      .select()
      .from(customerServices)
      .where(eq(customerServices.currency, 'usd'))
      .orderBy(customerServices.id);
    expect(services).toMatchObject([
      {
        service_number: '11',
        billing_interval: 'month',
        price: '9.950',
        next_billing_date: '2026-12-01',
        status: 'active',
      },
      { service_number: '12', billing_interval: 'year', next_billing_date: null, status: 'terminated' },
    ]);
  });

  test('and its invoices with what was paid of them and paid back', async () => {
    const options = ['--format', 'whmcs', '--set', 'currency=usd'];
    expect(await run('invoices', 'whmcs-invoices.csv', ...options)).toEqual([
      'Left out: Client Name, Tax Rate, Tax Rate 2, Payment Method, Notes.',
      expect.stringMatching(/: 4 new, .* 0 rejected\.$/),
    ]);
    const read = () =>
      base.db.select().from(invoices).where(eq(invoices.currency, 'usd')).orderBy(invoices.id);
    expect(await read()).toMatchObject([
      { number: '201', status: 'paid', amount_paid: '9.950', paid_at: new Date('2026-09-03') },
      { number: '202', status: 'sent', total: '9.950', amount_paid: '2.000', amount_due: '7.950' },
      { number: 'INV-2026-7', status: 'cancelled', tax: '16.500', total: '99.000' },
      { number: null, status: 'draft', total: '99.000' },
    ]);
    for (const outcome of [/: 3 new, .* 0 rejected\.$/, /: 0 new, 0 changed, 3 unchanged, 0 rejected\.$/]) {
      expect((await run('payments', 'whmcs-transactions.csv', '--format', 'whmcs')).at(-1)).toMatch(outcome);
    }
    const paid = await base.db
      .select()
      .from(payments)
      .where(eq(payments.currency, 'usd'))
      .orderBy(payments.id);
    expect(paid).toMatchObject([
      { payment_reference: 'whmcs-51', status: 'refunded', refunded_amount: '99.000', source: 'import' },
      { payment_reference: 'whmcs-53', status: 'completed', refunded_amount: '0.000' },
    ]);
    expect(await base.db.select().from(refunds)).toMatchObject([
      { amount: '99.000', issued_at: new Date('2026-08-20') },
    ]);
    expect(await read()).toMatchObject([{}, {}, { status: 'cancelled', amount_paid: '0.000' }, {}]);
  });
});
