import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { eq, ne } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { customerServices, invoiceLines, invoices, payments, refunds } from '@/db/schema';
import { seedDatabase } from '@/db/seed';
import { IMPORT_NAMES } from '@/lib/imports/kinds';
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

  test('importing a payments file twice records each payment once', async () => {
    const file = [
      'payment_reference,invoice_number,customer_number,amount,currency,payment_date',
      'BANK-1,R-1,p1,119,eur,2026-03-01',
      'BANK-2,R-2,p1,119,eur,2026-03-01',
      'BANK-3,R-1,I1,119,usd,2026-03-01',
      'BANK-4,R-1,,0,,2026-03-01',
    ];
    const dry = await importing('payments', file, '--dry-run');
    expect(dry.at(-1)).toBe(
      'Dry run of f.csv (UTF-8), nothing was written: 1 new, 0 changed, 0 unchanged, 3 rejected.',
    );
    expect(await base.db.$count(payments)).toBe(0);
    expect((await importing('payments', file)).slice(0, -1)).toEqual([
      'line 3, column invoice_number: is not a known invoice',
      'line 4, column customer_number: is not the customer of the invoice',
      "line 4, column currency: must be eur, as the invoice's",
      'line 5, column amount: must be greater than 0',
      'f.csv (UTF-8): 1 new, 0 changed, 0 unchanged, 3 rejected.',
    ]);
    expect(await invoiceOf('R-1')).toMatchObject({ status: 'paid', amount_due: '0.000' });
    expect(await importing('payments', file)).toContain(
      'f.csv (UTF-8): 0 new, 0 changed, 1 unchanged, 3 rejected.',
    );
  });

  describe('an import of refunds', () => {
    const HEADER =
      'payment_reference,refund_of,invoice_number,amount,payment_date,refunded_amount,refunded_at';

    test('an imported refund reduces the refundable amount of its payment', async () => {
      await createInvoice(base.db, { number: 'RF-1', status: 'cancelled' });
      const file = [
        HEADER,
        'REF-1,,RF-1,100,2026-03-01,30,2026-03-05',
        'REF-2,REF-1,,20.5,2026-03-06,,',
        'REF-3,REF-1,,60,2026-03-07,,',
        'REF-4,NONE,,60,2026-03-07,,',
        'REF-5,,RF-1,10,2026-03-01,11,',
        'REF-6,,,10,2026-03-01,,',
      ];
      const counts = ': 2 new, 0 changed, 0 unchanged, 4 rejected.';
      expect((await importing('payments', file, '--dry-run')).at(-1)).toMatch(counts);
      expect((await importing('payments', file)).slice(0, -1)).toEqual([
        'line 4, column amount: is more than is left of the payment: 49.50 EUR',
        'line 5, column refund_of: is not a known payment',
        'line 6, column refunded_amount: is more than the payment',
        'line 7, column invoice_number: is needed',
        `f.csv (UTF-8)${counts}`,
      ]);
      expect(await paymentOf('REF-1')).toMatchObject({ refunded_amount: '50.500', status: 'completed' });
      const issued = await readRows(base.db, refunds);
      const days = issued.map(({ issued_at }) => issued_at.toISOString().slice(0, 10));
      expect(days).toEqual(['2026-03-05', '2026-03-06']);
    });

    test('importing a refund a second time changes nothing', async () => {
      const again = [HEADER, 'REF-2,REF-1,,20.5,2026-03-06,,', 'REF-1,,RF-1,100,2026-03-01,30,'];
      expect((await importing('payments', again)).slice(0, 2)).toEqual([
        'line 3, column refunded_amount: must be at least 50.50 EUR, which has already come back',
        'f.csv (UTF-8): 0 new, 0 changed, 1 unchanged, 1 rejected.',
      ]);
      expect((await importing('payments', [HEADER, 'REF-2,REF-1,,20,2026-03-06,,']))[0]).toBe(
        'line 2, column payment_reference: is used by another refund',
      );
    });
  });

  test('an import cannot change a Stripe invoice that was imported before', async () => {
    const header =
      'number,customer_number,status,invoice_date,total,amount_paid,amount_due,stripe_invoice_id,amount_credited';
    const good = 'ST-1,P1,overdue,2026-03-01,100,20,70,in_9,10';
    const bad = [
      'ST-2,P1,sent,2026-03-01,100,0,100,,10',
      'ST-3,P1,sent,2026-03-01,100,0,90,,',
      'R-1,P1,paid,2026-03-01,119,119,0,in_10,',
      'ST-4,P1,,2026-03-01,100,0,100,in_11,',
    ];
    expect((await importing('invoices', [header, good, ...bad])).slice(0, -1)).toEqual([
      'line 3, column amount_credited: is only for Stripe invoices, which have a stripe_invoice_id',
      'line 4, column amount_due: does not agree with the rest: 100.00 EUR',
      'line 5, column stripe_invoice_id: must be empty: the invoice is not from Stripe',
      'line 6, column status: is required for a Stripe invoice',
      'f.csv (UTF-8): 1 new, 0 changed, 0 unchanged, 4 rejected.',
    ]);
    const row = await invoiceOf('ST-1');
    expect(row).toMatchObject({ status: 'overdue', amount_due: '70.000', provider_as_of: null });
    const changed = 'ST-1,P1,paid,2026-03-01,100,100,0,in_9,0';
    const twice = await importing('invoices', [header, good, changed]);
    expect(twice[1]).toMatch(/: 0 new, 0 changed, 1 unchanged, 1 rejected/);
    expect((await importing('invoices', [header, changed]))[0]).toBe('line 2 Stripe manages this invoice');
  });

  test('an imported cancelled invoice has no amount due', async () => {
    const file = [
      'number,customer_number,status,invoice_date,total,amount_paid,amount_due,stripe_invoice_id',
      'CA-1,P1,cancelled,2026-03-01,100,,,',
      'CA-2,P1,cancelled,2026-03-01,100,20,80,',
      'CA-3,P1,cancelled,2026-03-01,100,0,0,',
      'CA-4,P1,cancelled,2026-03-01,100,0,100,in_ca4',
    ];
    expect(await importing('invoices', file)).toContain(
      'f.csv (UTF-8): 4 new, 0 changed, 0 unchanged, 0 rejected.',
    );
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

  test('imported invoice lines are rejected if they do not add up to their invoice', async () => {
    const bad = [
      'B,,1,Too cheap,1,90,19',
      'C,,1,Half,1,50,19',
      'C,,2,Half,one,50,19',
      'C,,3,Half,1',
      'D,,2,Later,1,50,19',
      'D,,1,Sooner,1,50,19',
      'A,,30,Third,1,0,19',
      'X,,1,Nothing,1,1,19',
      ',,1,Nobody,1,1,19',
      'STRIPE,,1,Theirs,1,100,19',
    ];
    const output = await importing('invoice-lines', [HEADER, ...good, ...bad]);
    expect(output.slice(0, -1)).toEqual([
      'line 4 cannot be imported: the lines add up to 90.00 EUR / 17.10 EUR / 107.10 EUR (net, tax, total), but the record has 100.00 EUR / 19.00 EUR / 119.00 EUR',
      'line 5 is refused together with line 6',
      'line 6, column quantity: must be a number such as 1234.56 or 1.234,56',
      'line 7 has 5 cells, but the first line has 7',
      'line 8 is refused together with line 9',
      'line 9, column position: must be more than in the line before',
      'line 10, column invoice_number: is also in line 2: keep the lines of one record together',
      'line 11, column invoice_number: is not a known invoice',
      'line 12, column invoice_number: must not be empty, because it identifies the row',
      'line 13 Stripe manages this invoice',
      'f.csv (UTF-8): 2 new, 0 changed, 0 unchanged, 10 rejected.',
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

  test('an imported line without a number is refused, and is not added to the invoice before it', async () => {
    await createInvoice(base.db, { number: 'KEY-1' });
    const file = ['KEY-1,,,Hosting,1,100,19', ',,,Free line of another invoice,1,0,19'];
    expect((await importing('invoice-lines', [HEADER, ...file])).slice(0, 2)).toEqual([
      'line 3, column invoice_number: must not be empty, because it identifies the row',
      'f.csv (UTF-8): 1 new, 0 changed, 0 unchanged, 1 rejected.',
    ]);
    const texts = await base.db
      .select({ text: invoiceLines.text })
      .from(invoiceLines)
      .innerJoin(invoices, eq(invoices.id, invoiceLines.invoice_id))
      .where(eq(invoices.number, 'KEY-1'));
    expect(texts).toEqual([{ text: 'Hosting' }]);
  });

  test('imported lines are added to the draft invoice with their import key', async () => {
    const draft = [
      'import_key,customer_number,status,invoice_date,subtotal,tax',
      'd-1,L1,draft,2026-03-01,100,19',
    ];
    expect((await importing('invoices', draft)).at(-1)).toMatch(/: 1 new/);
    // In the embedded database, these are more lines than fit into one batch.
    const all = Array.from({ length: 300 }, (_, i) => `,d-1,${i},Part ${i},1,${i < 100 ? 1 : 0},19`);
    const taken = (count: number) => [`f.csv (UTF-8): ${count} new, 0 changed, 0 unchanged, 0 rejected.`];
    expect(await importing('invoice-lines', [HEADER, ...all])).toEqual(taken(300));
    await createSalesDocument(base.db, { document_number: 'AN-1' });
    const lines = ['document_number;text;quantity;unit_price;tax_rate', 'AN-1;Setup;1;100,00;19'];
    expect(await importing('sales-document-lines', lines, '--decimal-comma')).toEqual(taken(1));
  });

  test('importing more than 500 lines for one invoice is refused', async () => {
    const many = Array.from({ length: 501 }, () => 'E,,,Part,1,0,19');
    const said = await importing('invoice-lines', [HEADER, ...many]);
    expect(said[0]).toBe('line 2 cannot be imported: a record can have at most 500 lines');
    expect(said.at(-2)).toBe('f.csv (UTF-8): 0 new, 0 changed, 0 unchanged, 501 rejected.');
  });
});

describe('the files of docs/examples in the demo', () => {
  const base = useDatabase();
  test('the files of docs/examples can be imported into a database with sample data', async () => {
    await seedDatabase(base.db, { today: '2026-11-26', timeZone: 'Europe/Vienna' });
    const examples = join(import.meta.dirname, '../../docs/examples');
    const names = readdirSync(examples).filter((name) => name.endsWith('.csv'));
    const files = names.toSorted((a, b) => kindOf(a) - kindOf(b));
    expect(files).toHaveLength(13);
    for (const file of files) {
      copyFileSync(join(examples, file), join(folder, file));
      const kind = IMPORT_NAMES[kindOf(file)] ?? '';
      const more = file.startsWith('whmcs') ? ['--format', 'whmcs'] : kind === 'services' ? MAPPED : [];
      const runtime = testRuntime(base.db, { now: NOW });
      const { output } = await run(base.db, 'import', [kind, file, ...more, '--yes'], { runtime });
      expect(output.at(-1)).toMatch(/: [1-9]\d* new, 0 changed, 0 unchanged, 0 rejected\.$/);
    }
  });
  const KINDS: Record<string, string> = {
    clients: 'customers',
    domains: 'services',
    transactions: 'payments',
  };
  const kindOf = (file: string) => {
    const name = file.replace(/^whmcs-|\.csv$/g, '');
    return IMPORT_NAMES.findIndex((kind) => kind === (KINDS[name] ?? name));
  };
});

// This time is after the last example payment, because future payments are refused. It is before the due date of the
// unpaid example invoices.
const NOW = new Date('2026-09-10T12:00:00Z');
const MAPPED = ['--map', 'Vertrag=service_number', '--map', 'Kunde=customer_number', '--decimal-comma'];

describe('the files of docs/examples', () => {
  const base = useDatabase();
  async function example(kind: string, file = `${kind}.csv`, ...options: string[]) {
    copyFileSync(join(import.meta.dirname, '../../docs/examples', file), join(folder, file));
    const runtime = testRuntime(base.db, { now: NOW });
    return (await run(base.db, 'import', [kind, file, ...options, '--yes'], { runtime })).output;
  }
  const created = (n: number) => expect.stringContaining(`: ${n} new, 0 changed, 0 unchanged, 0 rejected.`);

  test('importing the example files of docs/examples twice changes nothing the second time', async () => {
    expect(await example('customers')).toEqual([created(2)]);
    expect(await example('servers')).toEqual([created(1)]);
    expect(await example('services', 'services.csv', ...MAPPED)).toEqual([created(2)]);
    const books = { invoices: 3, 'invoice-lines': 3, 'sales-documents': 1, 'sales-document-lines': 2 };
    const files = Object.entries({ ...books, payments: 1 });
    for (const [kind, rows] of files) expect(await example(kind)).toEqual([created(rows)]);
    expect(await readRows(base.db, invoices)).toMatchObject([
      { number: 'EX-2026-1', status: 'paid', amount_paid: '11.780', amount_due: '0.000' },
      { number: 'EX-2025-417', status: 'paid', paid_at: new Date('2025-11-12'), amount_due: '0.000' },
      { number: null, status: 'draft', amount_due: '1015.000' },
    ]);
    for (const [kind, rows] of files) {
      const unchanged = `${kind}.csv (UTF-8): 0 new, 0 changed, ${rows} unchanged, 0 rejected.`;
      expect(await example(kind)).toEqual([unchanged]);
    }
  });

  test('the WHMCS example files of clients and services are imported without rejected rows', async () => {
    expect(await example('customers', 'whmcs-clients.csv', '--format', 'whmcs')).toEqual([
      'Left out: Address 2, State, Client Group ID, Credit, Creation Date, Notes.',
      expect.stringMatching(/: 2 new, .* 0 rejected\.$/),
    ]);
    for (const file of ['whmcs-services.csv', 'whmcs-domains.csv']) {
      const output = await example('services', file, '--format', 'whmcs');
      expect(output.at(-1)).toEqual(created(2));
    }
    const services = await readRows(base.db, customerServices, ne(customerServices.currency, 'eur'));
    const monthly = { billing_interval: 'month', price: '9.950', next_billing_date: '2026-12-01' };
    expect(services).toMatchObject([
      { service_number: '11', ...monthly, status: 'active', currency: 'usd', start_date: '2024-12-01' },
      {
        ...{ service_number: '12', billing_interval: 'half_year', next_billing_date: null },
        ...{ status: 'terminated', cancelled_at: null, currency: 'gbp', start_date: null },
      },
      {
        ...{ service_number: 'domain-11', service_type: 'domain', name: 'grace.example.com' },
        ...{ billing_interval: 'year', price: '14.990', currency: 'usd', start_date: '2024-12-01' },
      },
      {
        ...{ service_number: 'domain-12', billing_interval: 'two_years', currency: 'gbp' },
        ...{ status: 'suspended', domain: 'bartik.example.com' },
      },
    ]);
  });

  test('the WHMCS example files of invoices and payments are imported without rejected rows', async () => {
    expect(await example('invoices', 'whmcs-invoices.csv', '--format', 'whmcs')).toEqual([
      'Left out: Client Name, Tax Rate, Tax Rate 2, Payment Method, Notes.',
      expect.stringMatching(/: 4 new, .* 0 rejected\.$/),
    ]);
    const readInvoices = () => readRows(base.db, invoices, ne(invoices.currency, 'eur'));
    expect(await readInvoices()).toMatchObject([
      { number: '201', status: 'paid', amount_paid: '9.950', paid_at: new Date('2026-09-03') },
      { number: '202', status: 'sent', total: '9.950', amount_paid: '2.000', amount_due: '7.950' },
      { number: 'INV-2026-7', status: 'cancelled', currency: 'gbp', tax: '16.500', total: '99.000' },
      { number: null, status: 'draft', total: '99.000' },
    ]);
    for (const outcome of [/: 3 new, .* 0 rejected\.$/, /: 0 new, 0 changed, 3 unchanged, 0 rejected\.$/]) {
      const output = await example('payments', 'whmcs-transactions.csv', '--format', 'whmcs');
      expect(output.at(-1)).toMatch(outcome);
    }
    expect(await readRows(base.db, payments, ne(payments.currency, 'eur'))).toMatchObject([
      {
        payment_reference: 'whmcs-51 FP-2231',
        status: 'refunded',
        refunded_amount: '99.000',
        source: 'import',
      },
      { payment_reference: 'ch_3Px', status: 'completed', refunded_amount: '0.000' },
    ]);
    const issued_at = new Date('2026-08-20');
    expect(await readRows(base.db, refunds)).toMatchObject([{ amount: '99.000', issued_at }]);
    expect(await readInvoices()).toMatchObject([{}, {}, { status: 'cancelled', amount_paid: '0.000' }, {}]);
  });
});
