import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eq, sql } from 'drizzle-orm';
import { Schema } from 'node-schematron';
import type Stripe from 'stripe';
import { beforeAll, describe, expect, test } from 'vitest';
import { rows } from '@/db/database';
import { customers, creditNotes as storedNotes } from '@/db/schema';
import { seedDatabase } from '@/db/seed';
import { commandActor } from '@/lib/audit/audit-log';
import { COUNTRIES, startsWithCountry, toEInvoiceCountry } from '@/lib/countries';
import type { TaxCategory } from '@/lib/customers/tax-category';
import { toEInvoices } from '@/lib/documents/e-invoice';
import {
  describeCreditNoteDocument,
  describeDocument,
  explain,
  getCreditNoteDocument,
  getDocument,
} from '@/lib/documents/invoice-document';
import { readPrinted, readPrintedCreditNote } from '@/lib/documents/printed-invoice';
import { issueCreditNote, listCreditNotes } from '@/lib/invoices/credit-notes';
import { invoiceKind, invoiceSteps } from '@/lib/invoices/save-invoices';
import { CURRENCIES, isCurrency, isEInvoiceCurrency } from '@/lib/money';
import { saveRecord } from '@/lib/records/save-records';
import { takeStep } from '@/lib/records/steps';
import { reconcileCreditNotes } from '@/lib/sync/reconcile/lists';
import type { Run } from '@/lib/sync/reconcile/run';
import { readRow } from '../support/database';
import { createCustomer, createStripeInvoice } from '../support/factories';
import { recordedEvents, recordedInvoices, toEvent } from '../support/stripe-events';
import { useSync } from '../support/sync';

/** Folder with the schema and rules of EN 16931 and XRechnung, and a README. The folder is not part of the project. */
const OFFICIAL = '../shared/e-invoice';
const XSD = `${OFFICIAL}/xsd/uncefact/data/standard/CrossIndustryInvoice_100pD16B.xsd`;
const MOMENT = { now: new Date('2026-11-28T10:00:00Z'), timeZone: 'Europe/Berlin' };
/** Number of demo documents to check against the rules. All demo documents are checked against the schema. */
const SAMPLE = Number(process.env.TEST_DOCUMENTS ?? 10);

const base = useSync();
const schematrons = ['en16931-cii.sch', 'xrechnung-cii.sch'].map((file) =>
  readFileSync(join(OFFICIAL, file), 'utf8'),
);
const rules = schematrons.map((schematron) => Schema.fromString(evaluatedOnce(schematron)));
/** Ids of the rules that are only advice. They have the flag `warning` or `information`, not `fatal`. */
const ADVICE = new Set(
  schematrons.flatMap((schematron) =>
    [...schematron.matchAll(/<assert\b(?:[^>"']|"[^"]*"|'[^']*')*>/g)].flatMap(([tag]) =>
      /flag="fatal"/.test(tag) ? [] : (/\bid="([^"]+)"/.exec(tag)?.[1] ?? []),
    ),
  ),
);

/**
 * Rewrites each absolute context path of a rule so that it is evaluated only at the document. `node-schematron`
 * evaluates a context path at every node, which takes thirty times as long. Leaves out unions of paths.
 */
function evaluatedOnce(schema: string): string {
  return schema.replace(/context="(\/[^"|]*)"/g, 'context="self::document-node()/($1)"');
}

/** Returns the ids of the rules that a document breaks. */
function brokenRules(xml: string): string[] {
  const failed = rules.flatMap((schema) => schema.validateString(xml, {}));
  return failed.map(({ assertId, message }) => assertId ?? String(message).slice(0, 80)).sort();
}

/** Checks documents against the schema. Returns the errors, each with the name of its document. */
async function schemaErrors(documents: Checked[]): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'w5t-rules-'));
  const files = documents.map((_, at) => join(folder, `${at}.xml`));
  for (const [at, { xml }] of documents.entries()) await writeFile(files[at] ?? '', xml);
  const errors: string[] = [];
  for (let at = 0; at < files.length; at += 500) {
    const some = files.slice(at, at + 500);
    const { stderr } = spawnSync('xmllint', ['--noout', '--schema', XSD, ...some], { encoding: 'utf8' });
    const lines = stderr.trim().split('\n');
    expect(lines.length).toBeGreaterThanOrEqual(some.length);
    errors.push(...lines.filter((text) => !text.endsWith('.xml validates')));
  }
  await rm(folder, { recursive: true });
  return errors.map((text) => text.replace(/^.*?(\d+)\.xml/, (_, at) => documents[Number(at)]?.name ?? ''));
}

interface Checked {
  name: string;
  xml: string;
}

/**
 * Returns the XRechnungen of all invoices, credit notes and cancellations of the demo that have a document. One of each
 * combination of properties, such as origin, country, currency and tax rate, comes first.
 */
async function demoDocuments(): Promise<Checked[]> {
  const { db } = base;
  const found = await rows<{ id: number; kind: string; name: string }>(
    db,
    sql`select * from (
        select i.id, 'invoice' as kind, concat_ws(' ', case when i.stripe_invoice_id is null then 'own' else 'Stripe' end,
            c.country, i.currency, case when c.vat_id is null then 'person' else 'business' end,
            round(100 * i.tax / nullif(i.subtotal, 0)) || ' %',
            (select count(*) from invoice_lines l where l.invoice_id = i.id)
              + (select count(*) from stripe_invoice_lines l where l.invoice_id = i.id) || ' lines') as name
          from invoices i join customers c on c.id = i.customer_id where i.status <> 'draft'
        union all
        select n.id, n.kind::text, concat_ws(' ', n.kind, c.country, n.currency, round(100 * n.tax / n.subtotal) || ' %')
          from credit_notes n join customers c on c.id = n.customer_id) s
      order by row_number() over (partition by name order by id), md5(name)`,
  );
  const documents: Checked[] = [];
  for (const { id, kind, name } of found) {
    const isNote = kind !== 'invoice';
    const { isReady } = await (isNote ? describeCreditNoteDocument : describeDocument)(db, id);
    if (!isReady) continue;
    const printed = await (isNote ? readPrintedCreditNote : readPrinted)(db, id, MOMENT.timeZone);
    documents.push({ name, xml: (await toEInvoices(printed)).xRechnung });
  }
  return documents;
}

/**
 * Imports each recorded Stripe invoice through sync, and makes its document. Each invoice has a different customer,
 * whose empty fields are filled in.
 *
 * @returns the documents, and for each recording the reason why it has no document, or an empty text
 */
async function recordedDocuments() {
  const { db } = base;
  const documents: Checked[] = [];
  const reasons: [file: string, reason: string][] = [];
  for (const [n, { file, invoice }] of recordedInvoices().entries()) {
    const object = { ...invoice, id: `in_recorded_${n}`, customer: `cus_recorded_${n}` };
    const event = toEvent({ type: 'invoice.finalized', object }, n);
    const outcome = await base.takeBody(JSON.stringify(event)).catch(String);
    const stored = await base.invoiceOf(object.id);
    if (!stored) {
      reasons.push([file, String(outcome)]);
      continue;
    }
    await fillCustomer(stored.customer_id);
    const state = await describeDocument(db, stored.id);
    reasons.push([file, explain(state)]);
    if (!state.isReady) continue;
    const { xml } = await getDocument(db, stored.id, MOMENT);
    documents.push({ name: file, xml });
  }
  return { documents, reasons };
}

/** Fills the empty fields of a customer that a document requires. */
async function fillCustomer(id: number): Promise<void> {
  const row = await readRow(base.db, customers, id);
  const own = Object.entries(row).filter(([, value]) => value !== null);
  const { street, postal_code, city, country } = { ...BERLIN, ...Object.fromEntries(own) };
  const email = row.email ?? 'buyer@example.com';
  const company = row.company ?? (row.last_name ? null : 'Käufer GmbH');
  const filled = { company, street, postal_code, city, country, email };
  await base.db.update(customers).set(filled).where(eq(customers.id, id));
}

/**
 * Stores each recorded credit note of Stripe as a reconciliation does, and makes its document. The recordings do not
 * contain the credited invoices, so each credit note credits a new invoice.
 */
async function recordedCreditNotes(): Promise<Checked[]> {
  const { db } = base;
  const recordings = recordedEvents().filter(({ type }) => type.startsWith('credit_note.'));
  const data = recordings.map(({ read }, n) => {
    const { data } = read() as { data: { object: object } };
    return { ...data.object, id: `cn_recorded_${n}`, invoice: `in_credited_${n}` };
  });
  for (const { invoice } of data) {
    const { id } = await createCustomer(db);
    await fillCustomer(id);
    const stripe = { stripe_invoice_id: invoice, provider_as_of: MOMENT.now, currency: 'usd' };
    await createStripeInvoice(db, { customer_id: id, ...stripe });
  }
  const creditNotes = { list: async () => ({ data, has_more: false }) };
  const deps = { ...base.deps(), stripe: { creditNotes } as unknown as Stripe };
  const run = { id: 0, windowFrom: null, counts: { objects_checked: 0, changes_count: 0 } };
  await reconcileCreditNotes(deps, run as unknown as Run, null);
  const documents: Checked[] = [];
  for (const [at, { id }] of data.entries()) {
    const [note] = await db.select().from(storedNotes).where(eq(storedNotes.stripe_credit_note_id, id));
    const { xml } = await getCreditNoteDocument(db, note?.id ?? 0, MOMENT);
    documents.push({ name: recordings[at]?.file ?? '', xml });
  }
  return documents;
}

const BERLIN = { country: 'DE', vat_id: null, street: 'Lindenallee 1', postal_code: '10115', city: 'Berlin' };
const VIENNA = { ...BERLIN, country: 'AT', vat_id: 'ATU00000001', postal_code: '1010', city: 'Wien' };
/** Kosovo, a VAT ID without a country code, and a discount for early payment. */
const PRISTINA = {
  ...{ ...BERLIN, country: 'XK', vat_id: '810123456', postal_code: '10000', city: 'Pristina' },
  payment_terms: '#SKONTO#TAGE=14#PROZENT=2.00#',
};
const BOSTON = { ...BERLIN, country: 'US', postal_code: '02108', city: 'Boston' };

interface Line {
  text: string;
  quantity: number;
  unit_price: number;
  tax_rate: number;
  tax_category?: TaxCategory;
}
const line = (tax_rate: number, more: Partial<Line> = {}): Line => ({
  ...{ text: 'Webhosting M', quantity: 3, unit_price: 33.333, tax_rate },
  ...more,
});
const DISCOUNT = line(19, { text: 'Rabatt', unit_price: -5 });

/** Our own invoices. Each also gets a partial credit note, and a cancellation of the rest. */
const OWN: [name: string, customer: Record<string, unknown>, currency: string, lines: Line[]][] = [
  ['S with two rates and a discount', BERLIN, 'eur', [line(19), line(7), DISCOUNT]],
  ['Z beside S', BERLIN, 'eur', [line(0, { tax_category: 'Z' }), line(19)]],
  ['E of an exempt customer', { ...BERLIN, tax_exempt: true }, 'chf', [line(0)]],
  ['AE', VIENNA, 'eur', [line(0)]],
  ['K', VIENNA, 'eur', [line(0, { tax_category: 'K' })]],
  ['G', BOSTON, 'usd', [line(0, { tax_category: 'G' })]],
  ['O', BOSTON, 'usd', [line(0)]],
  ['G with a discount for early payment', PRISTINA, 'eur', [line(0, { tax_category: 'G' })]],
  ['S in a currency without decimals', BERLIN, 'jpy', [line(19, { unit_price: 999 })]],
];

const writer = { actor: commandActor('test'), now: MOMENT.now, timeZone: MOMENT.timeZone };

/** Issues an invoice and makes its document. */
async function issueOwn(company: string, customer: Record<string, unknown>, currency: string, lines: Line[]) {
  const { db } = base;
  const { customer_number } = await createCustomer(db, { company, ...customer });
  const values = { customer_number, currency, lines };
  const { id } = await saveRecord(db, invoiceKind, { values }, writer);
  await takeStep(db, invoiceSteps, 'send', { id, version: 0 }, writer);
  return { id, files: await getDocument(db, id, MOMENT) };
}

async function ownDocuments(): Promise<Checked[]> {
  const { db } = base;
  const documents: Checked[] = [];
  for (const [name, customer, currency, lines] of OWN) {
    const { id, files } = await issueOwn('Prüf & Söhne <KG>', customer, currency, lines);
    documents.push({ name, xml: files.xml });
    const wanted = { reason: 'Zu viel berechnet', lines: [{ position: 1, quantity: 1 }] };
    await issueCreditNote(db, { id, version: 1 }, wanted, writer);
    await takeStep(db, invoiceSteps, 'cancel', { id, version: 2 }, writer);
    for (const note of await listCreditNotes(db, id)) {
      const { xml } = await getCreditNoteDocument(db, note.id, MOMENT);
      documents.push({ name: `${name}, ${note.kind}`, xml });
    }
  }
  return documents;
}

/** Pattern of recordings whose publishers changed amounts by hand. */
const EDITED = /dj-stripe-[1345]|payment_failed\/stripe_model_callbacks/;

/** Returns the reason why a recorded invoice cannot have a document. Returns '' if it can. */
function reasonFor(file: string, { status, number, lines }: Record<string, unknown>): string {
  const [line] = (lines as { data?: object[] }).data ?? [];
  if (status === 'draft' || status === 'deleted')
    return 'It is a draft. It gets its document when it is issued.';
  if (status === 'void') return 'Stripe voided it.';
  if (!number) return 'Stripe has given it no number (BR-02).';
  if (EDITED.test(file)) return 'Its lines do not add up to its total (BR-CO-10).';
  return line ? '' : 'It has no lines (BR-16).';
}

type StripeGiven = Parameters<typeof createStripeInvoice>;
const untaxed = { tax: '0', total: '100' };
const paid = { status: 'paid', amount_due: '0' } as const;
const negative = { ...paid, subtotal: '-100', tax: '-19', total: '-119' };
const none = (reason: string | null) => ({ tax: { amount: '0', rate: '0', reason } });

/** Stripe invoices. By default, their net amount is 100, after a discount of 10. */
const STRIPES: [name: string, customer: Record<string, unknown>, StripeGiven[1], StripeGiven[2]][] = [
  ['S with a discount, paid from the balance', BERLIN, { amount_due: '89', balance_applied: '30' }, {}],
  [
    'S with an included tax',
    BERLIN,
    { ...paid, amount_paid: '119' },
    { amount: '129', tax: { inclusive: true } },
  ],
  ['S below zero', BERLIN, negative, { amount: '-100', discount: '0', tax: { amount: '-19' } }],
  ['S with a quantity that does not divide', BERLIN, {}, { quantity: '7' }],
  ['AE', VIENNA, { ...untaxed, due_date: null }, none('reverse_charge')],
  ['K', VIENNA, untaxed, none('zero_rated')],
  ['G', BOSTON, { ...untaxed, currency: 'usd' }, none('zero_rated')],
  ['O', BOSTON, { ...untaxed, currency: 'usd' }, none('not_subject_to_tax')],
  ['E', BERLIN, untaxed, none('customer_exempt')],
  ['Z', BERLIN, untaxed, none('zero_rated')],
];

async function stripeDocuments(): Promise<Checked[]> {
  const documents: Checked[] = [];
  for (const [name, customer, invoice, given] of STRIPES) {
    const { id } = await createCustomer(base.db, { company: 'Abo AG', ...customer });
    const stored = await createStripeInvoice(base.db, { customer_id: id, ...invoice }, given);
    const { xml } = await getDocument(base.db, stored.id, MOMENT);
    documents.push({ name: `Stripe, ${name}`, xml });
  }
  return documents;
}

/** Returns the elements and codes of a document. Of recorded invoices with the same shape, the test checks only one. */
const shapeOf = ({ xml }: Checked) =>
  `${xml.match(/<[a-z]+:\w+/g)} ${xml.match(/(?:Type|Category|Currency)Code>[^<]+/g)}`;

/** Returns the codes that a rule allows. */
const codesOf = (rule: string) =>
  new RegExp(`id="${rule}"[^>]*contains\\(' ([^']*) '`).exec(schematrons.join())?.[1]?.split(' ') ?? [];

test('e-invoices contain the countries, VAT IDs and currencies of the official code lists', () => {
  const [countries, vatPrefixes] = [codesOf('BR-CL-14'), codesOf('BR-CO-09')];
  const written = COUNTRIES.map(toEInvoiceCountry).filter((code) => code !== null);
  expect(written.filter((code) => !countries.includes(code))).toEqual([]);
  // The list still has the Netherlands Antilles (AN), and Northern Ireland (XI), which is part of our GB.
  expect(countries.filter((code) => !written.includes(code))).toEqual(['AN', 'XI']);
  const known = [...COUNTRIES, ...vatPrefixes];
  const prefixes = vatPrefixes.filter((code) => !['1A', 'AN'].includes(code));
  expect(new Set(known.filter((code) => startsWithCountry(`${code}1`)))).toEqual(new Set(prefixes));
  expect(CURRENCIES.filter((code) => !isEInvoiceCurrency(code))).toEqual(['stn']);
  for (const rule of ['BR-CL-03', 'BR-CL-04']) {
    const currencies = codesOf(rule).map((code) => code.toLowerCase());
    const stored = new Set([...CURRENCIES, ...currencies].filter(isCurrency));
    expect([...stored].filter((code) => isEInvoiceCurrency(code) !== currencies.includes(code))).toEqual([]);
  }
});

describe('XRechnungen', () => {
  let cases: Checked[] = [];
  let demo: Checked[] = [];
  let notes: Checked[] = [];
  let recorded: Awaited<ReturnType<typeof recordedDocuments>> = { documents: [], reasons: [] };
  beforeAll(async () => {
    await seedDatabase(base.db, { today: '2026-11-28', timeZone: 'Europe/Berlin' });
    demo = await demoDocuments();
    recorded = await recordedDocuments();
    notes = await recordedCreditNotes();
    cases = [...(await ownDocuments()), ...(await stripeDocuments())];
  }, 400_000);

  test('every recorded Stripe invoice has a document, or the expected reason why it has none', () => {
    const expected = recordedInvoices().map(({ file, invoice }) => [file, reasonFor(file, invoice)]);
    expect(recorded.reasons).toEqual(expected);
    expect(recorded.documents).toHaveLength(expected.filter(([, reason]) => reason === '').length);
    expect(recorded.documents.length).toBeGreaterThan(20);
  });

  test('XRechnungen of the sample data, of Stripe recordings and of special cases conform to the official schema', async () => {
    expect(cases).toHaveLength(3 * OWN.length + STRIPES.length);
    expect(demo.length).toBeGreaterThan(2000);
    expect(notes).toHaveLength(3);
    expect(await schemaErrors([...cases, ...recorded.documents, ...notes, ...demo])).toEqual([]);
  });

  test('XRechnungen of every VAT category, document kind and origin break no fatal rule of EN 16931 or XRechnung', () => {
    const ofShape = new Map(recorded.documents.toReversed().map((one) => [shapeOf(one), one]));
    const checked = [...cases, ...notes, ...ofShape.values(), ...demo.slice(0, SAMPLE)];
    const failed = checked.map(({ name, xml }) => [
      name,
      brokenRules(xml).filter((rule) => !ADVICE.has(rule)),
    ]);
    expect(failed).toEqual(checked.map(({ name }) => [name, []]));
  });

  test('the PDF of an invoice with 60 lines is a tagged PDF/A-3 with embedded fonts and the text of all lines in order', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'w5t-rules-'));
    const file = join(folder, 'invoice.pdf');
    const lines = Array.from({ length: 60 }, (_, i) => line(19, { text: `Domain ${i + 1}` }));
    const { files } = await issueOwn('Sechzig AG', BERLIN, 'eur', lines);
    await writeFile(file, files.pdf);
    const ask = (tool: string, ...options: string[]) => {
      const { stdout, stderr, status } = spawnSync(tool, [...options], { encoding: 'utf8' });
      expect([tool, status, stderr]).toEqual([tool, 0, '']);
      return stdout;
    };
    expect(ask('qpdf', '--check', file)).toContain('No syntax or stream encoding errors found');
    // The columns after the encoding say whether a font is embedded, a subset, and readable as text.
    const fonts = ask('pdffonts', file).trim().split('\n').slice(2);
    expect(fonts.map((font) => / yes yes yes /.test(font))).toEqual(fonts.map(() => true));
    expect(fonts.length).toBeGreaterThan(0);
    expect(ask('pdfinfo', file)).toMatch(/Tagged: +yes/);
    expect(ask('pdfinfo', '-meta', file)).toMatch(/pdfaid:part>3<.*pdfaid:conformance>A</s);
    const printed = ask('pdftotext', '-layout', file, '-').matchAll(/Domain (\d+)/g);
    expect([...printed].map(([, number]) => Number(number))).toEqual(lines.map((_, i) => i + 1));
    await rm(folder, { recursive: true });
  });

  test('an XRechnung with ten faults breaks the rule of each fault', () => {
    const sums = /(<ram:SpecifiedTradeSettlementHeaderMonetarySummation>\s*<ram:LineTotalAmount>)[^<]+/;
    const element = (name: string) => new RegExp(`<ram:${name}>.*?</ram:${name}>`, 's');
    const faults: [rule: string, pattern: RegExp, replacement: string][] = [
      ['BR-CO-15', /(<ram:GrandTotalAmount>)[^<]+/, '$11.00'],
      ['BR-CO-10', sums, '$12.00'],
      ['BR-CO-14', /(<ram:TaxTotalAmount[^>]*>)[^<]+/, '$13.00'],
      ['BR-02', /(<rsm:ExchangedDocument>\s*)<ram:ID>[^<]+<\/ram:ID>/, '$1'],
      ['BR-06', /(<ram:SellerTradeParty>\s*)<ram:Name>[^<]+<\/ram:Name>/, '$1'],
      ['BR-21', element('LineID'), ''],
      ['BR-27', /(<ram:ChargeAmount>)/, '$1-'],
      ['BR-DE-15', element('BuyerReference'), ''],
      ['BR-DE-6', element('TelephoneUniversalCommunication'), ''],
      ['BR-DE-7', element('EmailURIUniversalCommunication'), ''],
    ];
    let xml = cases[0]?.xml ?? '';
    for (const [, pattern, replacement] of faults) {
      expect(xml).toMatch(pattern);
      xml = xml.replace(pattern, replacement);
    }
    expect(brokenRules(xml)).toEqual(expect.arrayContaining(faults.map(([rule]) => rule)));
  });
});
