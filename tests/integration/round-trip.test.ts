import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Database } from '@/db/database';
import { commandActor } from '@/lib/audit/record-audit';
import { COMMANDS } from '@/lib/commands/commands';
import { customerKind } from '@/lib/customers/save-customers';
import type { RecordKind } from '@/lib/records/record-kind';
import { saveRecords } from '@/lib/records/save-records';
import { serverKind } from '@/lib/servers/save-servers';
import { serviceKind } from '@/lib/services/save-services';
import { useTwoDatabases } from '../support/two-databases';

const KINDS = ['customers', 'servers', 'services'] as const; // the books have a test of their own
const NOW = new Date('2026-11-23T10:00:00Z');

// What CSV, spreadsheets and our own escape could stumble over.
const character = fc.constantFrom(
  ...'ab"\'=+-@,; ',
  'ä',
  'ß',
  '€',
  '😀',
  '\u00a0',
  '\u2028',
  '\ufeff',
  '\uff1d',
);
const text = fc
  .string({ unit: character, minLength: 1, maxLength: 12 })
  // PGlite decodes each text by itself, and leaves out a byte order mark that it begins with.
  .filter((drawn) => /[^\p{Z}\p{C}]/u.test(drawn) && !drawn.startsWith('\ufeff'));
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const date = fc
  .date({ min: new Date('1990-01-01'), max: new Date('2090-01-01'), noInvalidDate: true })
  .map((drawn) => drawn.toISOString().slice(0, 10));

const customer = fc.record({
  first_name: maybe(text),
  last_name: maybe(text),
  company: text,
  email: maybe(fc.constantFrom('a@example.com', '+b@example.com')),
  phone: maybe(text),
  street: maybe(text),
  postal_code: maybe(text),
  city: maybe(text),
  country: maybe(fc.constantFrom('DE', 'AT')),
  vat_id: maybe(text),
  tax_exempt: fc.boolean(),
  currency: fc.constantFrom('eur', 'usd'),
  status: fc.constantFrom('active', 'inactive', 'blocked'),
});
const server = fc.record({
  ipv4: fc.array(fc.ipV4(), { maxLength: 3 }),
  ipv6: fc.array(fc.constantFrom('2001:db8::1', '::1'), { maxLength: 2 }),
  stack: maybe(text),
  cpu_cores: maybe(fc.integer({ min: 1, max: 100_000 })),
  location: maybe(text),
  status: fc.constantFrom('active', 'offline'),
});
const service = fc.record({
  service_type: fc.constantFrom('hosting', 'domain'),
  status: fc.constantFrom('draft', 'active', 'cancelled'),
  name: text,
  domain: maybe(text),
  price: fc.integer({ min: 0, max: 99_999_999 }).map((cents) => cents / 100),
  billing_interval: fc.constantFrom('month', 'year', 'once'),
  start_date: maybe(date),
  next_billing_date: maybe(date),
  ends_on: maybe(date),
});
const world = fc.record({
  customers: fc.array(customer, { minLength: 1, maxLength: 8 }),
  servers: fc.array(server, { minLength: 1, maxLength: 4 }),
  services: fc.array(service, { maxLength: 8 }),
});

describe('what is exported', () => {
  const two = useTwoDatabases();

  test('is the same after it was imported into another database', async () => {
    let drawn = 0;
    const key = (prefix: string) => `${prefix}${++drawn}`;
    await fc.assert(
      fc.asyncProperty(world, async (rows) => {
        const customers = rows.customers.map((row) => ({ ...row, customer_number: key("'=K") }));
        const servers = rows.servers.map((row) => ({ ...row, hostname: `${key('web')}.example.net` }));
        const services = rows.services.map((row, i) => ({
          ...row,
          service_number: key('+S'),
          customer_number: customers[i % customers.length]?.customer_number,
          hostname: i % 3 === 0 ? null : servers[i % servers.length]?.hostname,
        }));
        await save(two.from, customerKind, customers);
        await save(two.from, serverKind, servers);
        await save(two.from, serviceKind, services);
        await two.run(two.from, 'export', ['all', 'out']);
        for (const kind of KINDS) await two.run(two.to, 'import', [kind, `out/${kind}.csv`]);
        await two.run(two.to, 'export', ['all', 'again']);
        for (const kind of KINDS) expect(two.read(`again/${kind}.csv`)).toBe(two.read(`out/${kind}.csv`));
      }),
      { numRuns: 15 },
    );
    const said = await two.run(two.to, 'import', ['services', 'out/services.csv', '--dry-run']);
    expect(said.at(-1)).toMatch(/: 0 new, 0 changed, \d+ unchanged, 0 rejected\.$/);
  }, 120_000);

  test('goes to stdout, narrowed to what was changed since a day', async () => {
    const said = await two.run(two.to, 'export', ['customers']);
    expect(`${said.join('\n')}\n`).toBe(two.read('again/customers.csv'));
    const none = await two.run(two.to, 'export', ['servers', '--since', '2999-01-01']);
    expect(none).toEqual([expect.stringMatching(/^\ufeffhostname,ipv4,.*\r$/)]);
    expect((await two.run(two.to, 'export', ['servers', '--since', '2000-01-01'])).length).toBeGreaterThan(1);
  });
});

async function save(db: Database, kind: RecordKind, rows: Record<string, unknown>[]) {
  const writer = { actor: commandActor('test'), now: NOW, timeZone: 'UTC' };
  const saved = await saveRecords(
    db,
    kind,
    rows.map((values) => ({ values })),
    writer,
  );
  expect(saved.filter(({ outcome }) => outcome !== 'created')).toEqual([]);
}

test.each([
  [['sofas'], /cannot be exported/],
  [['all'], /^Usage/],
  [['customers', 'more'], /^Usage/],
  [['customers', '--since', '2026-02-31'], /--since must be a date/],
])('export %j is a sentence', (args, sentence) => {
  expect(() => COMMANDS.export.read(args)).toThrow(sentence);
});
