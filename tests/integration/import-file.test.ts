import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { eq, inArray } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { auditLog, customerServices, customers, imports, servers } from '@/db/schema';
import { UNCONFIRMED } from '@/lib/commands/command';
import { COMMANDS } from '@/lib/commands/commands';
import { readRows, useDatabase } from '../support/database';
import { useFiles } from '../support/run-command';

const base = useDatabase();
const { folder, write, read, run } = useFiles();

/** Imports with --yes, except in a dry run. */
const importing = (...args: string[]) =>
  run(base.db, 'import', args.includes('--dry-run') ? args : [...args, '--yes']);
const rowsOf = (name: string) => read(name).replace('\ufeff', '').split('\r\n');

const FILE = [
  'customer_number,company,email,tax_exempt,country',
  'I1,"Müller, GmbH",a@example.com,yes,DE',
  'I2,,,no,DE',
  'I3,Three,x@y,1,Germania',
  'i1,Twice,,,',
  'I5,"open,,,',
  'I6,Six,,,',
  'I7,Seven,,,,,more',
  'I8,Ei\u0000ght,,,',
  `I9,${'x'.repeat(1_048_576)},,,`,
  ',Nobody,,,',
  'I10,Ten,,perhaps,',
];

test('a dry run of a customer import writes nothing', async () => {
  write('c.csv', FILE.join('\r\n'));
  const { code, output } = await importing('customers', 'c.csv', '--dry-run');
  const counts = '2 new, 0 changed, 0 unchanged, 9 rejected.';
  expect([code, output.at(-1)]).toEqual([1, `Dry run of c.csv (UTF-8), nothing was written: ${counts}`]);
  for (const table of [customers, imports]) expect(await base.db.$count(table)).toBe(0);
  expect(() => read('c.rejected.csv')).toThrow('ENOENT');
});

test('an import names the fault of each rejected row, writes these rows to a separate file, and is logged', async () => {
  const output = [
    'line 3, column company: must not be empty unless there is a name',
    'line 4, column country: must be a country by its name or its two letters, such as Germany or DE',
    'line 5, column customer_number: is also in line 2',
    expect.stringMatching(/^line 6 has a quotation mark/),
    'line 8 has 7 cells, but the first line has 5',
    'line 9, column company: must not contain control characters',
    'line 10, column company: must have at most 200 characters',
    'line 11, column customer_number: must not be empty, because it identifies the row',
    'line 12, column tax_exempt: must be true or false, or yes or no',
    'c.csv (UTF-8): 2 new, 0 changed, 0 unchanged, 9 rejected.',
    expect.stringMatching(/c\.rejected\.csv: correct them there/),
  ];
  expect(await importing('customers', 'c.csv')).toEqual({ code: 1, output });
  const kept = rowsOf('c.rejected.csv');
  expect(kept.slice(0, 3)).toEqual([FILE[0], FILE[2], FILE[3]]);
  expect(kept).toHaveLength(11);
  const [row] = await base.db.select().from(imports);
  expect(row).toMatchObject({
    ...{ kind: 'customers', file_name: 'c.csv', finished_at: expect.any(Date) },
    counts: { created: 2, changed: 0, unchanged: 0, rejected: 9 },
  });
  const entry = { action: 'import.create', entity: 'import', entity_id: row?.id };
  expect(await readRows(base.db, auditLog)).toMatchObject([entry]);
});

test('a corrected row in the file of rejected rows is imported', async () => {
  const { output } = await importing('customers', 'c.csv');
  expect(output).toContain('c.csv (UTF-8): 0 new, 0 changed, 2 unchanged, 9 rejected.');
  write('c.rejected.csv', [FILE[0] ?? '', 'I2,Two,,no,DE', 'I1,"Müller, AG",a@example.com,yes,DE']);
  expect(await importing('customers', 'c.rejected.csv')).toEqual({
    code: 0,
    output: ['c.rejected.csv (UTF-8): 1 new, 1 changed, 0 unchanged, 0 rejected.'],
  });
  const log = await readRows(base.db, auditLog, eq(auditLog.entity, 'customer'));
  expect(log).toMatchObject([{ action: 'customer.update', before: { company: 'Müller, GmbH' } }]);
});

test('an imported service is rejected if its date is invalid, or if its customer number or hostname is unknown', async () => {
  write('servers.csv', '\ufeffhostname\tipv4\tram_gb\nweb1.example.net\t192.0.2.1 192.0.2.2\t64\n');
  write('services.csv', [
    'service_number;customer_number;hostname;service_type;name;price;start_date',
    'S1;i1;WEB1.example.net;hosting;Web;1.234,56;01.02.2026',
    'S2;unknown;web9.example.net;hosting;Web;1,00;31.02.2026',
    'S3;unknown;web9.example.net;hosting;Web;1,00;',
  ]);
  const one = 'servers.csv (UTF-8): 1 new, 0 changed, 0 unchanged, 0 rejected.';
  expect((await importing('servers', 'servers.csv')).output).toEqual([one]);
  expect((await importing('services', 'services.csv', '--decimal-comma')).output.slice(0, -1)).toEqual([
    'line 3, column start_date: must be a calendar date YYYY-MM-DD',
    'line 4, column customer_number: is not a known customer',
    'line 4, column hostname: is not a known server',
    'services.csv (UTF-8): 1 new, 0 changed, 0 unchanged, 2 rejected.',
  ]);
  const [service] = await base.db.select().from(customerServices);
  expect(service).toMatchObject({ service_number: 'S1', price: '1234.560', start_date: '2026-02-01' });
  expect(await base.db.$count(servers)).toBe(1);
});

test('an import without --yes writes nothing, and asks for a confirmation only if it would change something', async () => {
  write('ask.csv', ['Kundennummer;Firma;Preis', 'ASK1;One;x']);
  const options = ['--map', 'Kundennummer=customer_number', '--map', 'Firma=company', '--map', 'Preis='];
  const ask = () => run(base.db, 'import', ['customers', 'ask.csv', ...options]);
  const counts = '1 new, 0 changed, 0 unchanged, 0 rejected.';
  const output = [`Dry run of ask.csv (UTF-8), nothing was written: ${counts}`];
  expect(await ask()).toEqual({ code: UNCONFIRMED, output });
  expect(await base.db.$count(customers, eq(customers.customer_number, 'ASK1'))).toBe(0);
  expect((await importing('customers', 'ask.csv', ...options)).code).toBe(0);
  expect((await ask()).code).toBe(0); // Nothing would change, so the import does not ask for a confirmation.
});

test('an import without --map reuses the column mapping of the last file with the same header', async () => {
  write('next.csv', ['KUNDENNUMMER;Firma;Preis', 'ASK2;Two;x']);
  const output = [
    'Columns as in the last import of such a file: --map "Firma=company" --map "Preis=" --map "Kundennummer=customer_number".',
    'next.csv (UTF-8): 1 new, 0 changed, 0 unchanged, 0 rejected.',
  ];
  expect(await importing('customers', 'next.csv')).toEqual({ code: 0, output });
  write('excel.csv', ['\ufeffsep=;', 'KUNDENNUMMER;Firma;Preis', 'ASK2;Two;x']);
  expect((await importing('customers', 'excel.csv')).output).toEqual([
    output[0],
    expect.stringMatching(/1 unchanged/),
  ]);
  write('other.csv', ['Kundennummer;Firma', 'ASK3;Three']);
  const unlike = await importing('customers', 'other.csv');
  expect(unlike.output[0]).toMatch(/^Unknown: "Kundennummer", "Firma"/);
  const told = await importing('customers', 'next.csv', '--map', 'Firma=company');
  expect(told.output[0]).toMatch(/^Unknown: "KUNDENNUMMER", "Preis"/);
});

test('the --set values of an import are not reused by the next import', async () => {
  write('set.csv', ['Nr,company', 'ASK4,Four']);
  await importing('customers', 'set.csv', '--map', 'Nr=customer_number', '--set', 'status=inactive');
  write('set.csv', ['Nr,company', 'ASK5,Five']);
  await importing('customers', 'set.csv');
  const found = await readRows(base.db, customers, inArray(customers.customer_number, ['ASK4', 'ASK5']));
  expect(found).toMatchObject([{ status: 'inactive' }, { status: 'active' }]);
});

const PNG = Buffer.from('89504e470d0a1a0a0000000d4948445200000000', 'hex');
test.each<[string, string | Buffer | null, RegExp, ...string[]]>([
  ['a missing file', null, /^\S+none\.csv does not exist\.$/],
  ['an empty file', '', /is empty\.$/],
  ['a PNG image', PNG, /^This is not a CSV file/],
  ['a file in UTF-16', Buffer.from('\ufeffhostname\n', 'utf16le'), /UTF-16/],
  ['a file without the key column', 'location\nVienna\n', /^The column hostname is missing/],
  ['a file with an unknown constant', 'hostname\na\n', /^Unknown: "colour"/, '--set', 'colour=red'],
])('an import of %s is refused', async (_, content, sentence, ...options) => {
  if (content !== null) write('none.csv', content);
  const { code, output } = await importing('servers', 'none.csv', ...options);
  expect([code, output[0]]).toEqual([1, expect.stringMatching(sentence)]);
  rmSync(join(folder, 'none.csv'), { force: true });
});

test.each([
  [['sofas', 'x.csv'], /^sofas cannot be imported: choose one of customers, .*, payments, stripe\.$/],
  [['servers'], /^Usage/],
  [['servers', 'x.csv', '--map', 'x'], /equals sign/],
  [['servers', 'x.csv', '--delimiter', '||'], /one character/],
  [['servers', 'x.csv', '--encoding', 'latin1'], /--encoding must be one of utf-8, windows-1252/],
  [['servers', 'x.csv', '--decimal-comma', '--decimal-point'], /cannot be combined/],
  [['servers', 'x.csv', '--dry-run', '--yes'], /leave out --yes/],
  [['servers', 'x.csv', '--format', 'whmcs'], /is not a format of servers/],
  [['customers', 'x.csv', '--format', 'toString'], /is not a format/],
])('the import arguments %j are refused', (args, sentence) => {
  expect(() => COMMANDS.import.read(args)).toThrow(sentence);
});

// Every write to /dev/full fails as on a full disk.
test.runIf(existsSync('/dev/full'))(
  'an import stops with an error when the disk is full, and keeps the rows that it has imported',
  async () => {
    write('full.csv', ['hostname', 'no good', 'full.example.net']);
    symlinkSync('/dev/full', join(folder, 'full.rejected.csv'));
    const { code, output } = await importing('servers', 'full.csv');
    const sentence = expect.stringMatching(/full\.rejected\.csv cannot be written: the disk is full\.$/);
    expect([code, output.at(-1)]).toEqual([1, sentence]);
    rmSync(join(folder, 'full.rejected.csv'));
    const again = 'full.csv (UTF-8): 0 new, 0 changed, 1 unchanged, 1 rejected.';
    expect((await importing('servers', 'full.csv')).output).toContain(again);
  },
);

test('an import reports that its path for rejected rows is a folder', async () => {
  write('deep.csv', ['hostname', 'no good']);
  mkdirSync(join(folder, 'deep.rejected.csv'));
  const { output } = await importing('servers', 'deep.csv');
  expect(output.at(-1)).toMatch(/deep\.rejected\.csv is a folder\.$/);
});
