import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  auditLog,
  customerServices,
  customers,
  imports,
  invoices,
  payments,
  refunds,
  servers,
} from '@/db/schema';
import { COMMANDS } from '@/lib/commands/commands';
import { useDatabase } from '../support/database';
import { createCustomer, createInvoice } from '../support/factories';
import { runCommandHere } from '../support/run-command';

const base = useDatabase();
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'w5t-import-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (args: string[], signal?: AbortSignal) =>
  runCommandHere(base.db, 'import', args, { cwd: folder, ...(signal && { signal }) });

const write = (name: string, text: string | Buffer) => writeFileSync(join(folder, name), text);
const rejected = (name: string) =>
  readFileSync(join(folder, name), 'utf8').replace('\ufeff', '').split('\r\n');

describe('a file of customers', () => {
  const FILE = [
    'customer_number,company,email,tax_exempt,country',
    'I1,"Müller, GmbH",a@example.com,yes,DE',
    'I2,,,no,DE',
    'I3,Three,x@y,1,de',
    'i1,Twice,,,',
    'I5,"open,,,',
    'I6,Six,,,',
    'I7,Seven,,,,,more',
    'I8,Ei\u0000ght,,,',
    `I9,${'x'.repeat(1_048_576)},,,`,
    ',Nobody,,,',
    'I10,Ten,,perhaps,',
  ].join('\r\n');

  test('is tried without writing anything', async () => {
    write('c.csv', FILE);
    const { code, said } = await run(['customers', 'c.csv', '--dry-run']);
    expect(code).toBe(1);
    expect(said.at(-1)).toBe('Dry run, nothing was written: 2 new, 0 changed, 0 unchanged, 9 rejected.');
    expect(await base.db.$count(customers)).toBe(0);
    expect(await base.db.$count(imports)).toBe(0);
    expect(() => rejected('c.rejected.csv')).toThrow('ENOENT');
  });

  test('is imported but for its bad rows, each told and kept', async () => {
    const { code, said } = await run(['customers', 'c.csv']);
    expect(code).toBe(1);
    expect(said).toEqual([
      'line 3, column company: or a name is needed',
      'line 4, column country: must be a country such as DE',
      'line 5, column customer_number: is that of line 2 too',
      expect.stringMatching(/^line 6 has a quotation mark/),
      'line 8 has 7 cells, and the first line 5',
      'line 9, column company: must not contain control characters',
      'line 10, column company: must have at most 200 characters',
      'line 11, column customer_number: must not be empty: a row is known again by it',
      'line 12, column tax_exempt: must be true or false',
      'c.csv: 2 new, 0 changed, 0 unchanged, 9 rejected.',
      expect.stringMatching(/c\.rejected\.csv: mend them there/),
    ]);
    const kept = rejected('c.rejected.csv');
    expect(kept.slice(0, 3)).toEqual([FILE.split('\r\n')[0], 'I2,,,no,DE', 'I3,Three,x@y,1,de']);
    expect(kept).toHaveLength(11);
    const [row] = await base.db.select().from(imports);
    expect(row).toMatchObject({
      kind: 'customers',
      file_name: 'c.csv',
      counts: { created: 2, changed: 0, unchanged: 0, rejected: 9 },
      finished_at: expect.any(Date),
    });
    const told = await base.db.select().from(auditLog);
    expect(told).toMatchObject([{ action: 'import.create', entity: 'import', entity_id: row?.id }]);
  });

  test('changes nothing the second time; what was mended goes in', async () => {
    expect((await run(['customers', 'c.csv'])).said).toContain(
      'c.csv: 0 new, 0 changed, 2 unchanged, 9 rejected.',
    );
    const [header] = rejected('c.rejected.csv');
    write('c.rejected.csv', `${header}\nI2,Two,,no,DE\nI1,"Müller, AG",a@example.com,yes,DE\n`);
    expect(await run(['customers', 'c.rejected.csv'])).toEqual({
      code: 0,
      said: ['c.rejected.csv: 1 new, 1 changed, 0 unchanged, 0 rejected.'],
    });
    const log = await base.db.select().from(auditLog).where(eq(auditLog.entity, 'customer'));
    expect(log).toMatchObject([{ action: 'customer.update', before: { company: 'Müller, GmbH' } }]);
  });

  test('may be of Windows-1252, with semicolons, other names and values for all', async () => {
    write('w.csv', Buffer.from('Kundennummer;Firma;Farbe\r\nW1;M\xfcller \x80;rot\r\n', 'latin1'));
    const args = ['--map', 'Kundennummer=customer_number', '--map', 'Firma=company', '--map', 'Farbe='];
    expect(await run(['customers', 'w.csv', ...args, '--set', 'currency=chf'])).toMatchObject({ code: 0 });
    const [found] = await base.db.select().from(customers).where(eq(customers.customer_number, 'W1'));
    expect(found).toMatchObject({ company: 'Müller €', currency: 'chf' });
  });
});

describe('servers and services', () => {
  test('name each other as people do', async () => {
    write('servers.csv', '\ufeffhostname\tipv4\tram_gb\nweb1.example.net\t192.0.2.1 192.0.2.2\t64\n');
    write(
      'services.csv',
      [
        'service_number;customer_number;hostname;service_type;name;price;start_date',
        'S1;i1;WEB1.example.net;hosting;Web;1.234,56;01.02.2026',
        'S2;nobody;web9.example.net;hosting;Web;1,00;31.02.2026',
        'S3;nobody;web9.example.net;hosting;Web;1,00;',
      ].join('\n'),
    );
    expect((await run(['servers', 'servers.csv'])).said).toEqual([
      'servers.csv: 1 new, 0 changed, 0 unchanged, 0 rejected.',
    ]);
    expect((await run(['services', 'services.csv', '--decimal-comma'])).said.slice(0, -1)).toEqual([
      'line 3, column start_date: must be a calendar date YYYY-MM-DD',
      'line 4, column customer_number: is not a known customer',
      'line 4, column hostname: is not a known server',
      'services.csv: 1 new, 0 changed, 0 unchanged, 2 rejected.',
    ]);
    const [service] = await base.db.select().from(customerServices);
    expect(service).toMatchObject({ service_number: 'S1', price: '1234.560', start_date: '2026-02-01' });
    expect(await base.db.$count(servers)).toBe(1);
  });

  test('without --decimal-comma its numbers are refused', async () => {
    expect((await run(['services', 'services.csv'])).said).toContain(
      'line 2, column price: is no number: numbers like 1.234,56 need --decimal-comma',
    );
  });
});

describe('payments', () => {
  test('settle their invoices, once', async () => {
    const customer = await createCustomer(base.db, { customer_number: 'P1' });
    const { id } = await createInvoice(base.db, { number: 'R-1', customer_id: customer.id });
    write(
      'payments.csv',
      [
        'payment_reference,invoice_number,customer_number,amount,currency,payment_date',
        'BANK-1,R-1,p1,119,eur,2026-03-01',
        'BANK-2,R-2,p1,119,eur,2026-03-01',
        'BANK-3,R-1,I1,119,usd,2026-03-01',
        'BANK-4,R-1,,0,,2026-03-01',
      ].join('\n'),
    );
    const dry = await run(['payments', 'payments.csv', '--dry-run']);
    expect(dry.said.at(-1)).toBe('Dry run, nothing was written: 1 new, 0 changed, 0 unchanged, 3 rejected.');
    expect(await base.db.$count(payments)).toBe(0);
    expect((await run(['payments', 'payments.csv'])).said.slice(0, -1)).toEqual([
      'line 3, column invoice_number: is not a known invoice',
      'line 4, column customer_number: is not whose invoice it is',
      "line 4, column currency: must be eur, as the invoice's",
      'line 5, column amount: must be greater than 0',
      'payments.csv: 1 new, 0 changed, 0 unchanged, 3 rejected.',
    ]);
    const [invoice] = await base.db.select().from(invoices).where(eq(invoices.id, id));
    expect(invoice).toMatchObject({ status: 'paid', amount_due: '0.000' });
    expect((await run(['payments', 'payments.csv'])).said).toContain(
      'payments.csv: 0 new, 0 changed, 1 unchanged, 3 rejected.',
    );
  });
});

describe('spaces around what a row is known by', () => {
  test('make no other record', async () => {
    write('spaces.csv', 'customer_number,company\nSP1,One\n');
    await run(['customers', 'spaces.csv']);
    write('spaces.csv', 'customer_number,company\n"SP1 ",One\n');
    expect((await run(['customers', 'spaces.csv'])).said.at(-1)).toMatch('0 new, 0 changed, 1 unchanged');
  });
});

describe('refunds among payments', () => {
  const HEADER = 'payment_reference,refund_of,invoice_number,amount,payment_date,refunded_amount,refunded_at';
  const rows = [
    'REF-1,,RF-1,100,2026-03-01,30,2026-03-05',
    'REF-2,REF-1,,20.5,2026-03-06,,',
    'REF-3,REF-1,,60,2026-03-07,,',
    'REF-4,NONE,,60,2026-03-07,,',
    'REF-5,,RF-1,10,2026-03-01,11,',
    'REF-6,,,10,2026-03-01,,',
  ];
  const problems = [
    'line 4, column amount: is more than is left of the payment: 49.50 EUR',
    'line 5, column refund_of: is not a known payment',
    'line 6, column refunded_amount: is more than the payment',
    'line 7, column invoice_number: is needed',
  ];

  test('take off what they are of, once, also of a cancelled invoice', async () => {
    await createInvoice(base.db, { number: 'RF-1', status: 'cancelled' });
    write('refunds.csv', [HEADER, ...rows].join('\n'));
    const counts = ': 2 new, 0 changed, 0 unchanged, 4 rejected.';
    expect((await run(['payments', 'refunds.csv', '--dry-run'])).said.at(-1)).toMatch(counts);
    expect((await run(['payments', 'refunds.csv'])).said.slice(0, -1)).toEqual([
      ...problems,
      `refunds.csv${counts}`,
    ]);
    const read = () => base.db.select().from(payments).where(eq(payments.payment_reference, 'REF-1'));
    expect(await read()).toMatchObject([{ refunded_amount: '50.500', status: 'completed' }]);
    const issued = await base.db.select().from(refunds).orderBy(refunds.id);
    expect(issued.map(({ issued_at }) => issued_at.toISOString().slice(0, 10))).toEqual([
      '2026-03-05',
      '2026-03-06',
    ]);
  });

  test('are not recorded twice, and none is taken back', async () => {
    write(
      'again.csv',
      [HEADER, 'REF-2,REF-1,,20.5,2026-03-06,,', 'REF-1,,RF-1,100,2026-03-01,30,'].join('\n'),
    );
    expect((await run(['payments', 'again.csv'])).said.slice(0, 2)).toEqual([
      'line 3, column refunded_amount: must not be less than what came back already: 50.50 EUR',
      'again.csv: 0 new, 0 changed, 1 unchanged, 1 rejected.',
    ]);
    write('other.csv', [HEADER, 'REF-2,REF-1,,20,2026-03-06,,'].join('\n'));
    expect((await run(['payments', 'other.csv'])).said[0]).toBe(
      'line 2, column payment_reference: is that of another refund',
    );
  });
});

describe('invoices that Stripe manages', () => {
  const HEADER =
    'number,customer_number,status,invoice_date,total,amount_paid,amount_due,stripe_invoice_id,amount_credited';

  test('come as they are said to be, and change by Stripe alone', async () => {
    const good = 'ST-1,P1,overdue,2026-03-01,100,20,70,in_9,10';
    const bad = [
      'ST-2,P1,sent,2026-03-01,100,0,100,,10',
      'ST-3,P1,sent,2026-03-01,100,0,90,,',
      'R-1,P1,paid,2026-03-01,119,119,0,in_10,',
      'ST-4,P1,,2026-03-01,100,0,100,in_11,',
    ];
    write('stripes.csv', [HEADER, good, ...bad].join('\n'));
    expect((await run(['invoices', 'stripes.csv'])).said.slice(0, -1)).toEqual([
      'line 3, column amount_credited: is only for Stripe invoices, which have a stripe_invoice_id',
      'line 4, column amount_due: does not agree with the rest: 100.00 EUR',
      'line 5, column stripe_invoice_id: must be empty: the invoice is not from Stripe',
      'line 6, column status: is required for a Stripe invoice',
      'stripes.csv: 1 new, 0 changed, 0 unchanged, 4 rejected.',
    ]);
    const [row] = await base.db.select().from(invoices).where(eq(invoices.stripe_invoice_id, 'in_9'));
    expect(row).toMatchObject({ status: 'overdue', amount_due: '70.000', provider_as_of: null });
    write('stripes.csv', [HEADER, good, 'ST-1,P1,paid,2026-03-01,100,100,0,in_9,0'].join('\n'));
    expect((await run(['invoices', 'stripes.csv'])).said[1]).toMatch(
      /: 0 new, 0 changed, 1 unchanged, 1 rejected/,
    );
    write('stripes.csv', [HEADER, 'ST-1,P1,paid,2026-03-01,100,100,0,in_9,0'].join('\n'));
    expect((await run(['invoices', 'stripes.csv'])).said[0]).toBe('line 2 Stripe manages this invoice');
  });
});

test('a partial payment opens no invoice again that came as paid', async () => {
  const paid_at = new Date('2026-01-05T00:00:00Z');
  const { id } = await createInvoice(base.db, {
    number: 'OLD-1',
    status: 'paid',
    amount_paid: '119.00',
    amount_due: '0',
    paid_at,
  });
  write('part.csv', 'payment_reference,invoice_number,amount,payment_date\nOLD,OLD-1,40,2026-01-05\n');
  expect((await run(['payments', 'part.csv'])).code).toBe(0);
  const read = () => base.db.select().from(invoices).where(eq(invoices.id, id));
  expect(await read()).toMatchObject([
    { status: 'paid', amount_paid: '119.000', amount_due: '0.000', paid_at },
  ]);
});

describe('what cannot be imported is a sentence', () => {
  test.each<[string, string | Buffer | null, string[], RegExp]>([
    ['no such file', null, [], /^\S+none\.csv does not exist\.$/],
    ['an empty one', '', [], /is empty\.$/],
    ['a picture', Buffer.from('89504e470d0a1a0a0000000d4948445200000000', 'hex'), [], /^This is no CSV file/],
    ['UTF-16', Buffer.from('\ufeffhostname\n', 'utf16le'), [], /UTF-16/],
    ['another kind of file', 'colour,hostname\nred,a\n', [], /^Unknown: "colour"/],
    ['no key', 'location\nVienna\n', [], /^The column hostname is missing/],
    ['a column twice', 'hostname,hostname\na,b\n', [], /twice/],
    ['an option of no column', 'hostname\na\n', ['--set', 'colour=red'], /^Unknown: "colour"/],
  ])('%s', async (_, content, options, sentence) => {
    if (content !== null) write('none.csv', content);
    const { code, said } = await run(['servers', 'none.csv', ...options]);
    expect(code).toBe(1);
    expect(said[0]).toMatch(sentence);
    rmSync(join(folder, 'none.csv'), { force: true });
  });

  test.each([
    [['sofas', 'x.csv'], /cannot be imported/],
    [['servers'], /^Usage/],
    [['servers', 'x.csv', '--map', 'x'], /equals sign/],
    [['servers', 'x.csv', '--delimiter', '||'], /one character/],
    [['servers', 'x.csv', '--format', 'whmcs'], /no such format of servers/],
    [['customers', 'x.csv', '--format', 'toString'], /no such format/],
  ])('%j', async (args, sentence) => {
    expect(() => COMMANDS.import.read(args)).toThrow(sentence);
  });

  // A device that answers every write as a full disk would.
  test.runIf(existsSync('/dev/full'))('a full disk', async () => {
    write('full.csv', 'hostname\nno good\nfull.example.net\n');
    symlinkSync('/dev/full', join(folder, 'full.rejected.csv'));
    const { code, said } = await run(['servers', 'full.csv']);
    expect(code).toBe(1);
    expect(said.at(-1)).toMatch(/full\.rejected\.csv cannot be written: the disk is full\.$/);
    rmSync(join(folder, 'full.rejected.csv'));
    expect((await run(['servers', 'full.csv'])).said).toContain(
      'full.csv: 0 new, 0 changed, 1 unchanged, 1 rejected.',
    );
  });

  test('a rejected file that cannot be written', async () => {
    write('deep.csv', 'hostname\nno good\n');
    rmSync(join(folder, 'deep.rejected.csv'), { force: true });
    const { mkdirSync } = await import('node:fs');
    mkdirSync(join(folder, 'deep.rejected.csv'));
    expect((await run(['servers', 'deep.csv'])).said.at(-1)).toMatch(/deep\.rejected\.csv is a folder\.$/);
  });
});

describe('an import that is stopped', () => {
  test('keeps what it has, and the next one does the rest', async () => {
    const lines = Array.from({ length: 3000 }, (_, i) => `T${i},Company ${i}`);
    write('long.csv', ['customer_number,company', ...lines].join('\n'));
    const stop = new AbortController();
    const running = run(['customers', 'long.csv'], stop.signal);
    stop.abort();
    expect(await running).toEqual({
      code: 130,
      said: [
        expect.stringMatching(/^long\.csv: \d+ new/),
        expect.stringMatching(/^Stopped: these rows are kept/),
      ],
    });
    const broken = await base.db.select().from(imports).where(eq(imports.file_name, 'long.csv'));
    expect(broken).toMatchObject([{ finished_at: null }]);
    expect((await run(['customers', 'long.csv'])).code).toBe(0);
    expect(await base.db.$count(customers, eq(customers.company, 'Company 2999'))).toBe(1);
  });
});

describe('a refund of a whole payment', () => {
  test('is not taken back by the same file', async () => {
    await createInvoice(base.db, { number: 'RF-0', total: '119.00', status: 'sent' });
    const header = 'payment_reference,refund_of,invoice_number,amount,payment_date,status';
    write('whole.csv', [header, 'W-1,,RF-0,119,2026-01-05,completed', 'W-2,W-1,,119,2026-01-10,'].join('\n'));
    await run(['payments', 'whole.csv']);
    const read = () => base.db.select().from(payments).where(eq(payments.payment_reference, 'W-1'));
    const [before] = await read();
    expect(before).toMatchObject({ status: 'refunded', refunded_amount: '119.000' });
    expect((await run(['payments', 'whole.csv'])).said.at(-1)).toMatch('0 new, 0 changed, 2 unchanged');
    expect(await read()).toEqual([before]);
  });
});
