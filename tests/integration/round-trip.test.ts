import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DatabaseHandle } from '@/db/client';
import type { Database } from '@/db/database';
import { invoices } from '@/db/schema';
import { commandActor } from '@/lib/audit/audit-log';
import { COMMANDS } from '@/lib/commands/commands';
import { customerKind } from '@/lib/customers/save-customers';
import { EXPORT_NAMES } from '@/lib/exports/export-csv';
import { invoiceKind, invoiceSteps } from '@/lib/invoices/save-invoices';
import { recordPayment } from '@/lib/payments/write-payment';
import type { RecordKind } from '@/lib/records/record-kind';
import { saveRecord, saveRecords } from '@/lib/records/save-records';
import { takeStep } from '@/lib/records/steps';
import { getSalesDocument } from '@/lib/sales-documents/queries';
import { convertDocument, salesDocumentKind } from '@/lib/sales-documents/save-sales-documents';
import { serverKind } from '@/lib/servers/save-servers';
import { serviceKind } from '@/lib/services/save-services';
import { createTestDatabase, readRow, useDatabase } from '../support/database';
import { createCustomer, createInvoice, createPayment, createRefund } from '../support/factories';
import { useFiles } from '../support/run-command';

const NOW = new Date('2026-03-15T12:00:00Z');
const WRITER = { actor: commandActor('test'), now: NOW, timeZone: 'UTC' };
const MASTER = ['customers', 'servers', 'services'] as const;

// Characters that could break CSV, spreadsheets or our own escaping.
const character = fc.constantFrom(...'ab"\'=+-@,; äß€😀\u00a0\u2028\ufeff\uff1d');
const text = fc
  .string({ unit: character, minLength: 1, maxLength: 12 })
  // PGlite decodes each text separately, and drops a leading byte order mark.
  .filter((drawn) => /[^\p{Z}\p{C}]/u.test(drawn) && !drawn.startsWith('\ufeff'));
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const date = fc
  .date({ min: new Date('1990-01-01'), max: new Date('2090-01-01'), noInvalidDate: true })
  .map((drawn) => drawn.toISOString().slice(0, 10));

const texts = (...names: string[]) => Object.fromEntries(names.map((name) => [name, maybe(text)]));

const customer = fc.record({
  ...texts('first_name', 'last_name', 'phone', 'street', 'postal_code', 'city', 'buyer_reference'),
  ...texts('payment_terms'),
  company: text,
  email: maybe(fc.constantFrom('a@example.com', '+b@example.com')),
  country: maybe(fc.constant('DE')),
  vat_id: maybe(fc.constantFrom('DE123456789', 'DE000000000')),
  tax_exempt: fc.boolean(),
  document_language: maybe(fc.constantFrom('de', 'en')),
  currency: fc.constantFrom('eur', 'usd'),
  status: fc.constantFrom('active', 'inactive', 'blocked'),
});
const server = fc.record({
  ipv4: fc.array(fc.ipV4(), { maxLength: 3 }),
  ipv6: fc.array(fc.constantFrom('2001:db8::1', '::1'), { maxLength: 2 }),
  ...texts('stack', 'location'),
  cpu_cores: maybe(fc.integer({ min: 1, max: 100_000 })),
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
const masterData = fc.record({
  customers: fc.array(customer, { minLength: 1, maxLength: 8 }),
  servers: fc.array(server, { minLength: 1, maxLength: 4 }),
  services: fc.array(service, { maxLength: 8 }),
});

const cents = (max: number) => fc.integer({ min: 1, max }).map((drawn) => drawn / 100);
const line = fc.record({
  text: fc.constantFrom('Web "M"', '=Setup', 'Ä, ö; ü'),
  quantity: fc.integer({ min: 1, max: 9000 }).map((drawn) => drawn / 1000),
  unit_price: cents(99_999),
  tax_rate: fc.constantFrom(0, 7, 19),
  tax_category: fc.constantFrom(null, 'S', 'Z', 'E'),
});
const content = fc.oneof(
  fc.record({ lines: fc.array(line, { minLength: 1, maxLength: 4 }) }),
  fc.record({ subtotal: cents(99_999), tax: cents(9_999) }),
);
const recentDate = fc.constantFrom('2026-01-31', '2026-02-28', '2026-03-14');
const payment = fc.record({
  part: fc.constantFrom(0.25, 0.5, 1),
  back: fc.constantFrom(0, 0, 0.5, 1),
  status: fc.constantFrom('completed', 'completed', 'failed', 'pending'),
  date: recentDate,
});
const invoice = fc.record({
  content,
  status: fc.constantFrom('draft', 'sent', 'paid'),
  currency: fc.constantFrom('eur', 'usd'),
  invoice_date: recentDate,
  due_date: fc.constantFrom(null, '2026-03-14', '2026-04-01'),
  payments: fc.array(payment, { maxLength: 3 }),
  isCancelled: fc.boolean(),
});
const document = fc.record({
  content,
  status: fc.constantFrom('draft', 'sent', 'accepted', 'rejected'),
  becomes: fc.constantFrom('order_confirmation', 'invoice'),
  document_date: recentDate,
  valid_until: fc.constantFrom(null, '2026-04-01'),
});
const books = fc.record({
  invoices: fc.array(invoice, { minLength: 1, maxLength: 5 }),
  documents: fc.array(document, { minLength: 1, maxLength: 3 }),
  stripes: fc.array(fc.record({ isDraft: fc.boolean(), back: fc.constantFrom(0, 5, 10) }), { maxLength: 2 }),
});

let drawn = 0;
const key = (prefix: string) => `${prefix}${++drawn}`;

async function addInvoice(db: Database, customer: Customer, values: Drawn['invoices'][number]) {
  const { content, payments, isCancelled, status, ...rest } = values;
  const written = { ...rest, ...content, status, customer_number: customer.customer_number };
  const { id } = await saveRecord(db, invoiceKind, { values: written }, WRITER);
  if (status === 'draft') return;
  for (const { part, back, status, date } of payments) {
    const amount = Math.ceil(part * 10_000) / 100;
    const of = { invoice_id: id, customer_id: customer.id, payment_reference: key('+P') };
    const isBack = status === 'completed' && back > 0;
    const input = { ...of, payment_date: date, amount, status, ...(isBack && { cameBack: amount * back }) };
    const writer = { ...WRITER, source: 'api', refundedAt: new Date(`${date}T09:30:00.123Z`) } as const;
    await recordPayment(db, input, writer);
  }
  const seen = await readRow(db, invoices, id);
  if (isCancelled && Number(seen.amount_paid) === 0 && seen.status !== 'paid')
    await takeStep(db, invoiceSteps, 'cancel', seen, WRITER);
}

async function addDocument(db: Database, { customer_number }: Customer, drawn: Drawn['documents'][number]) {
  const { content, becomes, ...rest } = drawn;
  const values = { ...rest, ...content, type: 'offer', customer_number };
  const { id } = await saveRecord(db, salesDocumentKind, { values }, WRITER);
  const { version, status } = await getSalesDocument(db, id);
  if (status === 'accepted') await convertDocument(db, { id, version, to: becomes as 'invoice' }, WRITER);
}

/** Creates a Stripe invoice and, unless it is a draft, its payment and refunds, as sync stores them. */
async function addStripes(db: Database, customer_id: number, { isDraft, back }: Drawn['stripes'][number]) {
  const managed = { stripe_invoice_id: key('in_'), stripe_customer_id: 'cus_1', amount_credited: '1' };
  const state = isDraft
    ? { status: 'draft' as const, number: null }
    : { status: 'overdue' as const, payment_failed_at: NOW, uncollectible: true };
  const { id } = await createInvoice(db, { customer_id, ...managed, ...state });
  if (isDraft) return;
  const refunded = { status: back === 10 ? 'refunded' : 'completed', refunded_amount: String(back) } as const;
  const paid = { invoice_id: id, customer_id, source: 'stripe' } as const;
  const { id: payment_id } = await createPayment(db, { ...paid, ...refunded });
  for (const amount of back === 10 ? ['4', '6'] : back > 0 ? [String(back)] : []) {
    await createRefund(db, { payment_id, amount });
  }
}

type Drawn = typeof books extends fc.Arbitrary<infer T> ? T : never;
type Customer = Awaited<ReturnType<typeof createCustomer>>;

const base = useDatabase();
const files = useFiles();
let other: DatabaseHandle;
beforeAll(async () => {
  other = await createTestDatabase();
});
afterAll(() => other?.close());

async function run(db: Database, name: 'import' | 'export', ...args: string[]): Promise<string[]> {
  const { code, output } = await files.run(db, name, name === 'import' ? [...args, '--yes'] : args);
  expect(code, output.join('\n')).toBe(0);
  return output;
}
/** Returns the lines of a file, sorted, because a file may contain the same rows in another order. */
const rowsOf = (name: string) => files.read(name).split('\r\n').sort();
async function expectRoundTrip(kinds: readonly (typeof EXPORT_NAMES)[number][]) {
  await run(base.db, 'export', 'all', 'out');
  for (const kind of kinds) await run(other.db, 'import', kind, `out/${kind}.csv`);
  await run(other.db, 'export', 'all', 'again');
  for (const kind of kinds) expect(rowsOf(`again/${kind}.csv`)).toEqual(rowsOf(`out/${kind}.csv`));
}

test('exported customers, servers and services are unchanged after import into another database', async () => {
  await fc.assert(
    fc.asyncProperty(masterData, async (rows) => {
      const customers = rows.customers.map((row) => ({ ...row, customer_number: key("'=K") }));
      const servers = rows.servers.map((row) => ({ ...row, hostname: `${key('web')}.example.net` }));
      const services = rows.services.map((row, i) => ({
        ...row,
        service_number: key('+S'),
        customer_number: customers[i % customers.length]?.customer_number,
        hostname: i % 3 === 0 ? null : servers[i % servers.length]?.hostname,
      }));
      await save(base.db, customerKind, customers);
      await save(base.db, serverKind, servers);
      await save(base.db, serviceKind, services);
      await expectRoundTrip(MASTER);
      for (const kind of MASTER) expect(files.read(`again/${kind}.csv`)).toBe(files.read(`out/${kind}.csv`));
    }),
    { numRuns: 8, endOnFailure: true },
  );
});

test('an export without a folder is printed, and with --since contains only rows changed since that day', async () => {
  const output = await run(other.db, 'export', 'customers');
  expect(`${output.join('\n')}\n`).toBe(files.read('again/customers.csv'));
  const none = await run(other.db, 'export', 'servers', '--since', '2999-01-01');
  expect(none).toEqual([expect.stringMatching(/^\ufeff"hostname","ipv4",.*\r$/)]);
  expect((await run(other.db, 'export', 'servers', '--since', '2000-01-01')).length).toBeGreaterThan(1);
});

test('all exported files have the same rows after import into another database, and a second import changes nothing', async () => {
  const customer = await createCustomer(base.db);
  await createCustomer(base.db, { first_name: null, last_name: null });
  const rareInvoices: Parameters<typeof createInvoice>[1][] = [
    { amount_credited: '19', amount_due: '100' },
    { amount_credited: '19', status: 'cancelled' },
    { amount_credited: '119', amount_due: '0', status: 'paid', paid_at: NOW },
    { stripe_invoice_id: 'in_down', subtotal: '-20', tax: '-3.8', total: '-23.8', amount_due: '0' },
  ];
  for (const one of rareInvoices) await createInvoice(base.db, { customer_id: customer.id, ...one });
  await fc.assert(
    fc.asyncProperty(books, async ({ invoices, documents, stripes }) => {
      for (const one of invoices) await addInvoice(base.db, customer, one);
      for (const one of documents) await addDocument(base.db, customer, one);
      for (const one of stripes) await addStripes(base.db, customer.id, one);
      await expectRoundTrip(EXPORT_NAMES);
    }),
    { numRuns: 6, endOnFailure: true },
  );
  for (const db of [base.db, other.db]) {
    for (const kind of EXPORT_NAMES) {
      const output = await run(db, 'import', kind, `out/${kind}.csv`);
      expect(output.at(-1)).toMatch(/: 0 new, 0 changed, \d+ unchanged, 0 rejected\.$/);
    }
  }
});

async function save(db: Database, kind: RecordKind, rows: Record<string, unknown>[]) {
  const drafts = rows.map((values) => ({ values }));
  const saved = await saveRecords(db, kind, drafts, WRITER);
  expect(saved.filter(({ outcome }) => outcome !== 'created')).toEqual([]);
}

test.each([
  [['sofas'], /cannot be exported/],
  [['all'], /^Usage/],
  [['customers', 'more'], /^Usage/],
  [['customers', '--since', '2026-02-31'], /--since must be a date/],
])('the export arguments %j are refused', (args, sentence) => {
  expect(() => COMMANDS.export.read(args)).toThrow(sentence);
});
