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
import { describeDocument, getDocument } from '@/lib/documents/invoice-document';
import { useDatabase } from '../support/database';

/** Schema and rules of EN 16931 and XRechnung, with a README. Not part of the project. */
const OFFICIAL = '../shared/e-invoice';
const XSD = `${OFFICIAL}/xsd/uncefact/data/standard/CrossIndustryInvoice_100pD16B.xsd`;
const MOMENT = { now: new Date('2026-11-28T10:00:00Z'), timeZone: 'Europe/Berlin' };
/** Number of documents to check. The rules take up to half a minute for each on a busy machine. */
const SAMPLE = Number(process.env.TEST_DOCUMENTS ?? 5);

const base = useDatabase();
const rules = ['en16931-cii.sch', 'xrechnung-cii.sch'].map((file) =>
  Schema.fromString(readFileSync(join(OFFICIAL, file), 'utf8')),
);

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

/** One XRechnung for each combination of country, currency, tax and number of lines in the demo, up to `SAMPLE`. */
async function demoDocuments(): Promise<{ name: string; xml: string }[]> {
  const found = await rows<{ id: number; name: string }>(
    base.db,
    sql`select min(id)::int as id, name from (
        select i.id, concat_ws(' ', c.country, i.currency, case when c.vat_id is null then 'person' else 'business' end,
          l.tax_rate, l.lines || ' lines') as name
        from invoices i join customers c on c.id = i.customer_id
          join (select invoice_id, max(tax_rate) as tax_rate, count(*) as lines from invoice_lines group by 1) l
            on l.invoice_id = i.id
        where i.stripe_invoice_id is null and i.status <> 'draft') s
      group by name order by md5(name)`,
  );
  const documents: { name: string; xml: string }[] = [];
  for (const { id, name } of found) {
    if (documents.length === SAMPLE) break;
    if (!(await describeDocument(base.db, id)).isReady) continue;
    documents.push({ name, xml: (await getDocument(base.db, id, MOMENT)).xml });
  }
  return documents;
}

describe('XRechnungen of the demo', () => {
  let documents: Awaited<ReturnType<typeof demoDocuments>> = [];
  beforeAll(async () => {
    await seedDatabase(base.db, { today: '2026-11-28', timeZone: 'Europe/Berlin' });
    documents = await demoDocuments();
  }, 400_000);

  test('the XRechnungen of the demo fit the official schema', async () => {
    expect(documents).toHaveLength(SAMPLE);
    for (const { name, xml } of documents) expect([name, await schemaErrors(xml)]).toEqual([name, '']);
  });

  test('the XRechnungen of the demo keep the rules of EN 16931 and XRechnung', () => {
    for (const { name, xml } of documents) expect([name, brokenRules(xml)]).toEqual([name, []]);
  });

  test('an XRechnung with six faults breaks the rule about each', () => {
    const faults: [rule: string, pattern: RegExp, replacement: string][] = [
      ['BR-CO-15', /(<ram:GrandTotalAmount>)[^<]+/, '$11.00'],
      ['BR-02', /(<rsm:ExchangedDocument>\s*)<ram:ID>[^<]+<\/ram:ID>/, '$1'],
      ['BR-06', /(<ram:SellerTradeParty>\s*)<ram:Name>[^<]+<\/ram:Name>/, '$1'],
      ['BR-27', /(<ram:ChargeAmount>)/, '$1-'],
      ['BR-DE-15', /<ram:BuyerReference>[^<]+<\/ram:BuyerReference>/, ''],
      ['BR-DE-6', /<ram:TelephoneUniversalCommunication>.*?<\/ram:TelephoneUniversalCommunication>/s, ''],
    ];
    let xml = documents[0]?.xml ?? '';
    for (const [, pattern, replacement] of faults) {
      expect(xml).toMatch(pattern);
      xml = xml.replace(pattern, replacement);
    }
    expect(brokenRules(xml)).toEqual(expect.arrayContaining(faults.map(([rule]) => rule)));
  });
});
