import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { Schema } from 'node-schematron';
import { beforeAll, describe, expect, test } from 'vitest';
import { rows } from '@/db/database';
import { seedDatabase } from '@/db/seed';
import { commandActor } from '@/lib/audit/audit-log';
import type { TaxCategory } from '@/lib/customers/tax-category';
import { describeDocument, getCreditNoteDocument, getDocument } from '@/lib/documents/invoice-document';
import { issueCreditNote, listCreditNotes } from '@/lib/invoices/credit-notes';
import { invoiceKind, invoiceSteps } from '@/lib/invoices/save-invoices';
import { saveRecord } from '@/lib/records/save-records';
import { takeStep } from '@/lib/records/steps';
import { useDatabase } from '../support/database';
import { createCustomer, createStripeInvoice } from '../support/factories';

/** Schema and rules of EN 16931 and XRechnung, with a README. Not part of the project. */
const OFFICIAL = '../shared/e-invoice';
const XSD = `${OFFICIAL}/xsd/uncefact/data/standard/CrossIndustryInvoice_100pD16B.xsd`;
const MOMENT = { now: new Date('2026-11-28T10:00:00Z'), timeZone: 'Europe/Berlin' };
/** Number of the demo's documents to check, besides the cases. */
const SAMPLE = Number(process.env.TEST_DOCUMENTS ?? 10);

const base = useDatabase();
const rules = ['en16931-cii.sch', 'xrechnung-cii.sch'].map((file) =>
  Schema.fromString(evaluatedOnce(readFileSync(join(OFFICIAL, file), 'utf8'))),
);

/**
 * Lets the absolute paths of rules start at the document. `node-schematron` searches for the context of a rule below
 * each node, so that an absolute path would be evaluated for all nodes, which takes thirty times as long.
 */
function evaluatedOnce(schema: string): string {
  return schema.replace(/context="(\/[^"|]*)"/g, 'context="self::document-node()/($1)"');
}

/** Returns the ids of the rules that a document breaks. */
function brokenRules(xml: string): string[] {
  const failed = rules.flatMap((schema) => schema.validateString(xml, {}));
  return failed.map(({ assertId, message }) => assertId ?? String(message).slice(0, 80)).sort();
}

/** Returns the errors of the schema in an XML document. */
async function schemaErrors(xml: string): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), 'w5t-rules-')), 'invoice.xml');
  await writeFile(file, xml);
  const { stderr, status } = spawnSync('xmllint', ['--noout', '--schema', XSD, file], { encoding: 'utf8' });
  return status === 0 ? '' : stderr;
}

interface Checked {
  name: string;
  xml: string;
}

/** XRechnungen of the demo, first one of each combination of country, currency, tax and number of lines. */
async function demoDocuments(): Promise<Checked[]> {
  const found = await rows<{ id: number; name: string }>(
    base.db,
    sql`select id, name from (
        select i.id, concat_ws(' ', c.country, i.currency, case when c.vat_id is null then 'person' else 'business' end,
          l.tax_rate, l.lines || ' lines') as name
        from invoices i join customers c on c.id = i.customer_id
          join (select invoice_id, max(tax_rate) as tax_rate, count(*) as lines from invoice_lines group by 1) l
            on l.invoice_id = i.id
        where i.stripe_invoice_id is null and i.status <> 'draft') s
      order by row_number() over (partition by name order by id), md5(name)`,
  );
  const documents: Checked[] = [];
  for (const { id, name } of found) {
    if (documents.length === SAMPLE) break;
    if (!(await describeDocument(base.db, id)).isReady) continue;
    documents.push({ name, xml: (await getDocument(base.db, id, MOMENT)).xml });
  }
  return documents;
}

const BERLIN = { country: 'DE', vat_id: null, street: 'Lindenallee 1', postal_code: '10115', city: 'Berlin' };
const VIENNA = { ...BERLIN, country: 'AT', vat_id: 'ATU00000001', postal_code: '1010', city: 'Wien' };
const BOSTON = { ...BERLIN, country: 'US', postal_code: '02108', city: 'Boston' };

type Line = {
  text: string;
  quantity: number;
  unit_price: number;
  tax_rate: number;
  tax_category?: TaxCategory;
};
const line = (tax_rate: number, more: Partial<Line> = {}): Line => ({
  ...{ text: 'Webhosting M', quantity: 3, unit_price: 33.333, tax_rate },
  ...more,
});

/** Our own invoices. Each also gets a partial credit note, and a cancellation of the rest. */
const OWN: [name: string, customer: Record<string, unknown>, currency: string, lines: Line[]][] = [
  [
    'S with two rates and a discount',
    BERLIN,
    'eur',
    [line(19), line(7), line(19, { text: 'Rabatt', unit_price: -5 })],
  ],
  ['Z beside S', BERLIN, 'eur', [line(0, { tax_category: 'Z' }), line(19)]],
  ['E of an exempt customer', { ...BERLIN, tax_exempt: true }, 'chf', [line(0)]],
  ['AE', VIENNA, 'eur', [line(0)]],
  ['K', VIENNA, 'eur', [line(0, { tax_category: 'K' })]],
  ['G', BOSTON, 'usd', [line(0, { tax_category: 'G' })]],
  ['O', BOSTON, 'usd', [line(0)]],
  ['S in a currency without decimals', BERLIN, 'jpy', [line(19, { unit_price: 999 })]],
];

async function ownDocuments(): Promise<Checked[]> {
  const { db } = base;
  const writer = { actor: commandActor('test'), now: MOMENT.now, timeZone: MOMENT.timeZone };
  const documents: Checked[] = [];
  for (const [name, customer, currency, lines] of OWN) {
    const { customer_number } = await createCustomer(db, { company: 'Prüf & Söhne <KG>', ...customer });
    const { id } = await saveRecord(
      db,
      invoiceKind,
      { values: { customer_number, currency, lines } },
      writer,
    );
    await takeStep(db, invoiceSteps, 'send', { id, version: 0 }, writer);
    documents.push({ name, xml: (await getDocument(db, id, MOMENT)).xml });
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

type StripeGiven = Parameters<typeof createStripeInvoice>;
const untaxed = { tax: '0', total: '100' };
const none = (reason: string | null) => ({ tax: { amount: '0', rate: '0', reason } });

/** Invoices of Stripe over 100 without tax, after a discount of 10. */
const STRIPES: [name: string, customer: Record<string, unknown>, StripeGiven[1], StripeGiven[2]][] = [
  ['S with a discount, paid from the balance', BERLIN, { amount_due: '89', balance_applied: '30' }, {}],
  [
    'S with an included tax, paid',
    BERLIN,
    { status: 'paid', amount_paid: '119', amount_due: '0' },
    { amount: '129', tax: { inclusive: true } },
  ],
  [
    'S below zero',
    BERLIN,
    { status: 'paid', subtotal: '-100', tax: '-19', total: '-119', amount_due: '0' },
    { amount: '-100', discount: '0', tax: { amount: '-19' } },
  ],
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
    documents.push({ name: `Stripe, ${name}`, xml: (await getDocument(base.db, stored.id, MOMENT)).xml });
  }
  return documents;
}

describe('XRechnungen', () => {
  let documents: Checked[] = [];
  beforeAll(async () => {
    await seedDatabase(base.db, { today: '2026-11-28', timeZone: 'Europe/Berlin' });
    documents = [...(await ownDocuments()), ...(await stripeDocuments()), ...(await demoDocuments())];
  }, 400_000);

  test('XRechnungen of each category, kind, currency and origin fit the official schema', async () => {
    expect(documents).toHaveLength(3 * OWN.length + STRIPES.length + SAMPLE);
    for (const { name, xml } of documents) expect([name, await schemaErrors(xml)]).toEqual([name, '']);
  });

  test('XRechnungen of each category, kind, currency and origin keep the rules of EN 16931 and XRechnung', () => {
    const broken = documents.map(({ name, xml }) => [name, brokenRules(xml)]);
    expect(broken).toEqual(documents.map(({ name }) => [name, []]));
  });

  test('an XRechnung with ten faults breaks the rule about each', () => {
    const faults: [rule: string, pattern: RegExp, replacement: string][] = [
      ['BR-CO-15', /(<ram:GrandTotalAmount>)[^<]+/, '$11.00'],
      [
        'BR-CO-10',
        /(<ram:SpecifiedTradeSettlementHeaderMonetarySummation>\s*<ram:LineTotalAmount>)[^<]+/,
        '$12.00',
      ],
      ['BR-CO-14', /(<ram:TaxTotalAmount[^>]*>)[^<]+/, '$13.00'],
      ['BR-02', /(<rsm:ExchangedDocument>\s*)<ram:ID>[^<]+<\/ram:ID>/, '$1'],
      ['BR-06', /(<ram:SellerTradeParty>\s*)<ram:Name>[^<]+<\/ram:Name>/, '$1'],
      ['BR-21', /<ram:LineID>[^<]+<\/ram:LineID>/, ''],
      ['BR-27', /(<ram:ChargeAmount>)/, '$1-'],
      ['BR-DE-15', /<ram:BuyerReference>[^<]+<\/ram:BuyerReference>/, ''],
      ['BR-DE-6', /<ram:TelephoneUniversalCommunication>.*?<\/ram:TelephoneUniversalCommunication>/s, ''],
      ['BR-DE-7', /<ram:EmailURIUniversalCommunication>.*?<\/ram:EmailURIUniversalCommunication>/s, ''],
    ];
    let xml = documents[0]?.xml ?? '';
    for (const [, pattern, replacement] of faults) {
      expect(xml).toMatch(pattern);
      xml = xml.replace(pattern, replacement);
    }
    expect(brokenRules(xml)).toEqual(expect.arrayContaining(faults.map(([rule]) => rule)));
  });
});
