import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { eq, inArray } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { customerServices, customers, invoiceLines, invoices, payments, refunds } from '@/db/schema';
import { seedDatabase } from '@/db/seed';
import { readRows, useDatabase } from '../support/database';
import { createCustomer, createInvoice, createSalesDocument } from '../support/factories';
import { useFiles } from '../support/run-command';
import { testRuntime } from '../support/runtime';

const { folder, write, read, run } = useFiles();

/** Makes a function that imports rows into a database and returns the printed lines. */
function importer(base: ReturnType<typeof useDatabase>) {
  return async (kind: string, rows: string[], ...options: string[]) => {
    write('f.csv', rows);
    const mode = options.includes('--dry-run') ? [] : ['--yes'];
    return (await run(base.db, 'import', [kind, 'f.csv', ...options, ...mode])).output;
  };
}
const created = (created: number, rejected: number) =>
  `f.csv (UTF-8): ${created} new, 0 changed, 0 unchanged, ${rejected} rejected.`;
const unchanged = (unchanged: number, rejected: number) =>
  `f.csv (UTF-8): 0 new, 0 changed, ${unchanged} unchanged, ${rejected} rejected.`;

describe('an import of payments and Stripe invoices', () => {
  const base = useDatabase();
  const importing = importer(base);
  const invoiceOf = async (number: string) =>
    (await base.db.select().from(invoices).where(eq(invoices.number, number)))[0];
  const paymentOf = async (reference: string) =>
    (await base.db.select().from(payments).where(eq(payments.payment_reference, reference)))[0];
  beforeAll(async () => {
    await createCustomer(base.db, { customer_number: 'I1' });
    const { id: customer_id } = await createCustomer(base.db, { customer_number: 'P1' });
    await createInvoice(base.db, { number: 'R-1', customer_id });
  });

  test('importing a payments file rejects invalid rows, and importing it again changes nothing', async () => {
    const file = [
      'payment_reference,invoice_number,customer_number,amount,currency,payment_date',
      'BANK-1,R-1,p1,119,eur,2026-03-01',
      'BANK-2,R-2,p1,119,eur,2026-03-01',
      'BANK-3,R-1,I1,119,usd,2026-03-01',
      'BANK-4,R-1,,0,,2026-03-01',
    ];
    const dry = await importing('payments', file, '--dry-run');
    expect(dry.at(-1)).toContain('1 new, 0 changed, 0 unchanged, 3 rejected.');
    expect(await base.db.$count(payments)).toBe(0);
    expect((await importing('payments', file)).slice(0, -1)).toEqual([
      'line 3, column invoice_number: is not a known invoice',
      'line 4, column customer_number: is not the customer of the invoice',
      "line 4, column currency: must be eur, as the invoice's",
      'line 5, column amount: must be greater than 0',
      created(1, 3),
    ]);
    expect(await invoiceOf('R-1')).toMatchObject({ status: 'paid', amount_due: '0.000' });
    expect(await importing('payments', file)).toContain(unchanged(1, 3));
  });

  const HEADER = 'payment_reference,refund_of,invoice_number,amount,payment_date,refunded_amount,refunded_at';

  test('imported refunds reduce the refundable amount of their payment and cannot exceed it', async () => {
    await createInvoice(base.db, { number: 'RF-1', status: 'cancelled' });
    const file = [
      HEADER,
      'REF-1,,RF-1,100,2026-03-01,30,2026-03-05',
      'REF-2,REF-1,,20.5,2026-03-06,,',
      'REF-3,REF-1,,60,2026-03-07,,',
      'REF-4,NONE,,60,2026-03-07,,',
      'REF-5,,RF-1,10,2026-03-01,11,',
      'REF-6,,,10,2026-03-01,,',
      'REF-7,,RF-1,10,2026-03-01,10,2026-03-05',
    ];
    const dry = await importing('payments', file, '--dry-run');
    expect(dry.at(-1)).toContain('3 new, 0 changed, 0 unchanged, 4 rejected.');
    expect((await importing('payments', file)).slice(0, -1)).toEqual([
      'line 4, column amount: is more than is left of the payment: 49.50 EUR',
      'line 5, column refund_of: is not a known payment',
      'line 6, column refunded_amount: is more than the payment',
      'line 7, column invoice_number: is needed',
      created(3, 4),
    ]);
    expect(await paymentOf('REF-1')).toMatchObject({ refunded_amount: '50.500', status: 'completed' });
    expect(await paymentOf('REF-7')).toMatchObject({ refunded_amount: '10.000', status: 'refunded' });
    const issued = await readRows(base.db, refunds);
    const days = issued.map(({ issued_at }) => issued_at.toISOString().slice(0, 10));
    expect(days.sort()).toEqual(['2026-03-05', '2026-03-05', '2026-03-06']);
  });

  test('importing a refund a second time changes nothing, and with another amount is refused', async () => {
    const again = [
      HEADER,
      'REF-2,REF-1,,20.5,2026-03-06,,',
      'REF-1,,RF-1,100,2026-03-01,30,',
      'REF-7,,RF-1,20,2026-03-01,15,',
    ];
    expect((await importing('payments', again)).slice(0, 3)).toEqual([
      'line 3, column refunded_amount: must be at least 50.50 EUR, which has already come back',
      'line 4, column refunded_amount: must be at least 20.00 EUR, because the payment is refunded',
      unchanged(1, 2),
    ]);
    const [refusal] = await importing('payments', [HEADER, 'REF-2,REF-1,,20,2026-03-06,,']);
    expect(refusal).toBe('line 2, column payment_reference: is used by another refund');
  });

  test('an import refuses inconsistent invoices, and cannot change a Stripe invoice that was imported before', async () => {
    const header =
      'number,customer_number,status,invoice_date,total,amount_paid,amount_due,stripe_invoice_id,amount_credited';
    const good = 'ST-1,P1,overdue,2026-03-01,100,20,70,in_9,10';
    const bad = [
      'ST-2,P1,sent,2026-03-01,100,0,100,,10',
      'ST-3,P1,sent,2026-03-01,100,0,90,,',
      'R-1,P1,paid,2026-03-01,119,119,0,in_10,',
      'ST-4,P1,,2026-03-01,100,0,100,in_11,',
      'ST-5,P1,sent,2026-03-01,-1,0,0,,',
      'ST-6,P1,sent,2026-03-01,100,0,,,200',
    ];
    expect((await importing('invoices', [header, good, ...bad])).slice(0, -1)).toEqual([
      'line 3, column amount_due: does not agree with the rest: 90.00 EUR',
      'line 4, column amount_due: does not agree with the rest: 100.00 EUR',
      'line 5, column stripe_invoice_id: must be empty: the invoice is not from Stripe',
      'line 6, column status: is required for a Stripe invoice',
      'line 7, column total: must not be negative',
      'line 8, column amount_credited: must not be more than the total of an issued invoice',
      created(1, 6),
    ]);
    const lost = [
      'number,customer_number,status,invoice_date,total,uncollectible',
      'ST-7,P1,sent,2026-03-01,9,true',
    ];
    expect((await importing('invoices', lost))[0]).toContain('uncollectible: is only for Stripe invoices');
    const row = await invoiceOf('ST-1');
    expect(row).toMatchObject({ status: 'overdue', amount_due: '70.000', provider_as_of: null });
    const changed = 'ST-1,P1,paid,2026-03-01,100,100,0,in_9,0';
    const twice = await importing('invoices', [header, good, changed]);
    expect(twice[1]).toBe(unchanged(1, 1));
    expect((await importing('invoices', [header, changed]))[0]).toBe('line 2 Stripe manages this invoice');
  });

  test('an import leaves a paid invoice with a credit note unchanged the second time', async () => {
    const file = [
      'number,customer_number,status,invoice_date,total,amount_credited',
      'CR-1,P1,paid,2026-03-01,119,19',
    ];
    expect(await importing('invoices', file)).toContain(created(1, 0));
    expect(await invoiceOf('CR-1')).toMatchObject({ amount_paid: '100.000', amount_due: '0.000' });
    expect(await importing('invoices', file)).toEqual([unchanged(1, 0)]);
  });

  test('an imported cancelled invoice has no amount due', async () => {
    const file = [
      'number,customer_number,status,invoice_date,total,amount_paid,amount_due,stripe_invoice_id',
      'CA-1,P1,cancelled,2026-03-01,100,,,',
      'CA-2,P1,cancelled,2026-03-01,100,20,80,',
      'CA-3,P1,cancelled,2026-03-01,100,0,0,',
      'CA-4,P1,cancelled,2026-03-01,100,0,100,in_ca4',
    ];
    expect(await importing('invoices', file)).toContain(created(4, 0));
    for (const number of ['CA-1', 'CA-2', 'CA-3', 'CA-4']) {
      expect(await invoiceOf(number)).toMatchObject({ status: 'cancelled', amount_due: '0.000' });
    }
    await importing('payments', [
      'payment_reference,invoice_number,amount,payment_date,refunded_amount,refunded_at',
      'CA-2-PAID,CA-2,20,2026-03-02,20,2026-03-09',
    ]);
    const settled = { status: 'cancelled', amount_paid: '20.000', amount_due: '0.000' };
    expect(await invoiceOf('CA-2')).toMatchObject(settled);
  });
});

describe('an import of invoice lines', () => {
  const base = useDatabase();
  const importing = importer(base);
  const HEADER = 'invoice_number,invoice_import_key,position,text,quantity,unit_price,tax_rate';
  const good = ['A,,10,First,1,60,19', 'A,,20,Second,2,20,19'];
  beforeAll(async () => {
    await createCustomer(base.db, { customer_number: 'L1' });
    for (const number of ['A', 'B', 'C', 'D', 'E']) await createInvoice(base.db, { number });
    await createInvoice(base.db, { number: 'STRIPE', stripe_invoice_id: 'in_1' });
  });

  test('invoice lines are imported only if they are valid and add up to a known invoice that Stripe does not manage', async () => {
    const bad = [
      ',,30,Line of another invoice,1,0,19',
      'B,,1,Too cheap,1,90,19',
      'C,,1,Half,1,50,19',
      'C,,2,Half,one,50,19',
      'C,,3,Half,1',
      'D,,2,Later,1,50,19',
      'D,,1,Sooner,1,50,19',
      'A,,30,Third,1,0,19',
      'X,,1,Nothing,1,1,19',
      'STRIPE,,1,Theirs,1,100,19',
    ];
    const output = await importing('invoice-lines', [HEADER, ...good, ...bad]);
    expect(output.slice(0, -1)).toEqual([
      'line 4, column invoice_number: must not be empty, because it identifies the row',
      'line 5 cannot be imported: the lines add up to 90.00 EUR / 17.10 EUR / 107.10 EUR (net, tax, total), but the record has 100.00 EUR / 19.00 EUR / 119.00 EUR',
      'line 6 is refused together with line 7',
      'line 7, column quantity: must be a number such as 1234.56 or 1.234,56',
      'line 8 has 5 cells, but the first line has 7',
      'line 9 is refused together with line 10',
      'line 10, column position: must be more than in the line before',
      'line 11, column invoice_number: is also in line 2: keep the lines of one record together',
      'line 12, column invoice_number: is not a known invoice',
      'line 13 Stripe manages this invoice',
      created(2, 10),
    ]);
    const [invoice] = await base.db.select().from(invoices).where(eq(invoices.number, 'A'));
    const stored = await base.db.select().from(invoiceLines).orderBy(invoiceLines.position);
    expect(stored).toMatchObject([
      { invoice_id: invoice?.id, position: 1, text: 'First' },
      { invoice_id: invoice?.id, position: 2, text: 'Second' },
    ]);
    expect(read('f.rejected.csv').split('\r\n').slice(1, -1)).toEqual(bad);
    expect(invoice).toMatchObject({ subtotal: '100.000', tax: '19.000', total: '119.000', status: 'sent' });
  });

  test('imported lines find a draft invoice by its import key, and a sales document by its number', async () => {
    const header = 'import_key,customer_number,status,invoice_date,subtotal,tax';
    const draft = [header, 'd-1,L1,draft,2026-03-01,100,19'];
    expect((await importing('invoices', draft)).at(-1)).toBe(created(1, 0));
    // In the embedded database, these are more lines than fit into one batch.
    const all = Array.from({ length: 300 }, (_, i) => `,d-1,${i},Part ${i},1,${i < 100 ? 1 : 0},19`);
    expect(await importing('invoice-lines', [HEADER, ...all])).toEqual([created(300, 0)]);
    await createSalesDocument(base.db, { document_number: 'AN-1' });
    const lines = ['document_number;text;quantity;unit_price;tax_rate', 'AN-1;Setup;1;100,00;19'];
    expect(await importing('sales-document-lines', lines, '--decimal-comma')).toEqual([created(1, 0)]);
  });

  test('importing more than 500 lines for one invoice is refused', async () => {
    const many = Array.from({ length: 501 }, () => 'E,,,Part,1,0,19');
    const said = await importing('invoice-lines', [HEADER, ...many]);
    expect(said[0]).toBe('line 2 cannot be imported: a record can have at most 500 lines');
    expect(said.at(-2)).toBe(created(0, 501));
  });
});

describe('the files of docs/examples', () => {
  const base = useDatabase();
  const EXAMPLES = join(import.meta.dirname, '../../docs/examples');
  const MAPPED = ['--map', 'Vertrag=service_number', '--map', 'Kunde=customer_number', '--decimal-comma'];
  const FILES: [file: string, kind: string, rows: number, ...options: string[]][] = [
    ['customers', 'customers', 2],
    ['whmcs-clients', 'customers', 2],
    ['servers', 'servers', 1],
    ['services', 'services', 2, ...MAPPED],
    ['whmcs-services', 'services', 2],
    ['whmcs-domains', 'services', 2],
    ['invoices', 'invoices', 3],
    ['whmcs-invoices', 'invoices', 4],
    ['invoice-lines', 'invoice-lines', 3],
    ['sales-documents', 'sales-documents', 1],
    ['sales-document-lines', 'sales-document-lines', 2],
    ['payments', 'payments', 1],
    ['whmcs-transactions', 'payments', 3],
  ];
  const LEFT_OUT: Record<string, string> = {
    'whmcs-clients': 'Left out: Address 2, State, Client Group ID, Credit, Creation Date, Notes.',
    'whmcs-invoices': 'Left out: Client Name, Tax Rate, Tax Rate 2, Payment Method, Notes.',
  };

  /** Imports all files on a day after their last payment and before the due date of their unpaid invoices. */
  async function importAll(counts: (rows: number) => string): Promise<void> {
    const runtime = testRuntime(base.db, { now: new Date('2026-09-10T12:00:00Z') });
    for (const [file, kind, rows, ...options] of FILES) {
      copyFileSync(join(EXAMPLES, `${file}.csv`), join(folder, `${file}.csv`));
      const isWhmcs = file.startsWith('whmcs');
      const args = [kind, `${file}.csv`, ...(isWhmcs ? ['--format', 'whmcs'] : options), '--yes'];
      const { output } = await run(base.db, 'import', args, { runtime });
      expect(output.at(-1)).toBe(`${file}.csv (UTF-8): ${counts(rows)}, 0 rejected.`);
      if (!isWhmcs || LEFT_OUT[file]) expect(output.slice(0, -1).join()).toBe(LEFT_OUT[file] ?? '');
    }
  }

  /** Reads the rows of a table that belong to the customers of the files. */
  async function exampleRows<Table extends typeof customerServices | typeof invoices | typeof payments>(
    table: Table,
  ) {
    const ours = inArray(customers.customer_number, ['EX-1001', 'EX-1002', '1', '2']);
    const ids = (await readRows(base.db, customers, ours)).map(({ id }) => id);
    return readRows(base.db, table, inArray(table.customer_id, ids));
  }

  beforeAll(async () => {
    await seedDatabase(base.db, { today: '2026-11-26', timeZone: 'Europe/Vienna' });
    await importAll((rows) => `${rows} new, 0 changed, 0 unchanged`);
  });

  test('importing the files of docs/examples into the sample data a second time changes nothing', async () => {
    const names = readdirSync(EXAMPLES).filter((name) => name.endsWith('.csv'));
    expect(FILES.map(([file]) => `${file}.csv`).sort()).toEqual(names.sort());
    await importAll((rows) => `0 new, 0 changed, ${rows} unchanged`);
  });

  test('the services of the WHMCS example files are imported with their type, interval, price, status and dates', async () => {
    const services = (await exampleRows(customerServices)).slice(2);
    expect(
      services.map((row) => [
        row.service_number,
        row.service_type,
        row.billing_interval,
        row.price,
        row.status,
      ]),
    ).toEqual([
      ['11', 'hosting', 'month', '9.950', 'active'],
      ['12', 'hosting', 'half_year', '99.000', 'terminated'],
      ['domain-11', 'domain', 'year', '14.990', 'active'],
      ['domain-12', 'domain', 'two_years', '24.000', 'suspended'],
    ]);
    expect(services).toMatchObject([
      { currency: 'usd', start_date: '2024-12-01', next_billing_date: '2026-12-01' },
      { currency: 'gbp', start_date: null, next_billing_date: null, cancelled_at: null },
      { currency: 'usd', start_date: '2024-12-01', name: 'grace.example.com' },
      { currency: 'gbp', domain: 'bartik.example.com' },
    ]);
  });

  test('the invoices of the example files are settled by their payments and refunds', async () => {
    const refundedInvoice = { total: '99.000', amount_paid: '0.000' };
    const paid = await exampleRows(payments);
    const back = { status: 'refunded', refunded_amount: '99.000', source: 'import' };
    expect(paid).toMatchObject([
      { payment_reference: 'EX-BANK-0310' },
      { payment_reference: 'whmcs-51 FP-2231', ...back },
      { payment_reference: 'ch_3Px', status: 'completed', refunded_amount: '0.000' },
    ]);
    const refunded = { amount: '99.000', issued_at: new Date('2026-08-20') };
    const ofPayment = eq(refunds.payment_id, paid[1]?.id ?? 0);
    expect(await readRows(base.db, refunds, ofPayment)).toMatchObject([refunded]);
    expect(await exampleRows(invoices)).toMatchObject([
      { number: 'EX-2026-1', status: 'paid', amount_paid: '11.780', amount_due: '0.000' },
      { number: 'EX-2025-417', status: 'paid', paid_at: new Date('2025-11-12'), amount_due: '0.000' },
      { number: null, status: 'draft', amount_due: '1015.000' },
      { number: '201', status: 'paid', amount_paid: '9.950', paid_at: new Date('2026-09-03') },
      { number: '202', status: 'sent', total: '9.950', amount_paid: '2.000', amount_due: '7.950' },
      { number: 'INV-2026-7', status: 'cancelled', currency: 'gbp', tax: '16.500', ...refundedInvoice },
      { number: null, status: 'draft', total: '99.000' },
    ]);
  });
});
