import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { inflateSync } from 'node:zlib';
import { eq, sql } from 'drizzle-orm';
import { strFromU8, unzipSync } from 'fflate';
import { beforeEach, describe, expect, test } from 'vitest';
import * as creditNoteFile from '@/app/api/w5t/credit-notes/[id]/document/route';
import * as documentFile from '@/app/api/w5t/invoices/[id]/document/route';
import { rows } from '@/db/database';
import {
  auditLog,
  company,
  creditNotes,
  customers,
  invoiceLines,
  invoices,
  type KeptTax,
  stripeInvoiceLines,
} from '@/db/schema';
import { DEMO_COMPANY } from '@/db/seed/company';
import { commandActor } from '@/lib/audit/audit-log';
import type { TaxCategory } from '@/lib/customers/tax-category';
import { type Company, getCompany, saveCompany } from '@/lib/documents/company';
import {
  describeCreditNoteDocument,
  describeDocument,
  documentsOf,
  getCreditNoteDocument,
  getDocument,
} from '@/lib/documents/invoice-document';
import { describeSalesFile, getSalesFile } from '@/lib/documents/sales-document-file';
import { eraseCustomer } from '@/lib/erasure/erase-customer';
import { documentsZip } from '@/lib/exports/documents-zip';
import { issueCreditNote, listCreditNotes } from '@/lib/invoices/credit-notes';
import { invoiceKind, invoiceSteps } from '@/lib/invoices/save-invoices';
import { saveRecord } from '@/lib/records/save-records';
import { takeStep } from '@/lib/records/steps';
import { salesDocumentKind, salesDocumentSteps } from '@/lib/sales-documents/save-sales-documents';
import { dropOldDocuments } from '@/lib/sync/reconcile/upkeep';
import { syncDeps } from '@/lib/sync/sync-deps';
import type { Scope } from '@/lib/tokens/access-token';
import { useApi } from '../support/api';
import { readRow, readRows } from '../support/database';
import { createCustomer, createInvoice, createStripeInvoice } from '../support/factories';

const PATH = '/api/w5t/invoices/[id]/document';
const server = useApi({ [PATH]: documentFile, '/api/w5t/credit-notes/[id]/document': creditNoteFile });
const actor = commandActor('test');
const now = () => server.runtime.now();
const moment = () => ({ now: now(), timeZone: 'UTC' });
const writer = () => ({ actor, now: now(), timeZone: 'UTC' });

const BERLIN = { street: 'Lindenallee 1', postal_code: '10115', city: 'Berlin', country: 'DE' };
const HOSTING = { text: 'Webhosting M', quantity: 2, unit_price: 50, tax_rate: 19 };
type Line = typeof HOSTING & { tax_category?: TaxCategory };
const LINES: Line[] = [HOSTING];
const UNTAXED = { text: 'Webhosting M', quantity: 1, unit_price: 80, tax_rate: 0 };

async function draft(customer: Partial<typeof customers.$inferInsert> = {}, lines: Line[] = LINES) {
  const { customer_number } = await createCustomer(server.runtime.db, { ...BERLIN, ...customer });
  return saveRecord(server.runtime.db, invoiceKind, { values: { customer_number, lines } }, writer());
}

async function issue(...given: Parameters<typeof draft>): Promise<number> {
  const { id } = await draft(...given);
  await takeStep(server.runtime.db, invoiceSteps, 'send', { id, version: 0 }, writer());
  return id;
}

/** Creates a Stripe invoice, by default paid in part with the customer's balance, and returns its id. */
async function stripeInvoice(
  changes: Partial<typeof invoices.$inferInsert> = {},
  tax: Partial<KeptTax> = {},
  description = 'Webhosting L',
): Promise<number> {
  const { db } = server.runtime;
  const customer = await createCustomer(db, { ...BERLIN, company: 'Abo AG' });
  const paid = { amount_due: '89', balance_applied: '30' };
  const invoice = { customer_id: customer.id, ...paid, ...changes };
  return (await createStripeInvoice(db, invoice, { tax, description })).id;
}

const setCompany = (changes: Partial<Record<keyof Company, unknown>> = {}, logo?: Buffer | null) => {
  const none = { small_business: false, payment_terms: null, footer: null, other_ibans: null };
  const company = { ...none, ...DEMO_COMPANY, ...changes } as Company;
  return saveCompany(server.runtime.db, company, { actor, logo });
};
beforeEach(() => setCompany());

const download = async (id: number | string, accept = '*/*', list = 'invoices', ...more: Scope[]) => {
  const authorization = `Bearer ${await server.token('billing:read', ...more)}`;
  return fetch(`${server.url}/api/w5t/${list}/${id}/document`, { headers: { authorization, accept } });
};
const pdfOf = async (id: number, list?: string) =>
  Buffer.from(await (await download(id, '*/*', list)).arrayBuffer());
const filesOf = (id: number) => getDocument(server.runtime.db, id, moment());
const xmlOf = async (id: number) => (await filesOf(id)).xml;
const reasonsOf = async (id: number) => (await describeDocument(server.runtime.db, id)).reasons;
const textOf = (pdf: Uint8Array) => Buffer.from(pdf).toString('latin1');

const invoiceOf = (id: number) => readRow(server.runtime.db, invoices, id);

/** Returns the invoices and credit notes of a month with their documents, or with the reasons why they have none. */
async function monthOf(month: string) {
  const found = [];
  for await (const one of documentsOf(server.runtime.db, month, moment())) found.push(one);
  return found;
}

/** Erases the customer of an invoice. */
const eraseOwner = async (id: number) =>
  eraseCustomer(server.runtime.db, (await invoiceOf(id)).customer_id, { actor, ...moment() });
/** Deletes the documents of erased customers whose retention period is over on a day. */
const dropOldOn = (day: string) =>
  dropOldDocuments({ ...syncDeps(server.runtime), now: () => new Date(`${day}T12:00:00Z`) });
/** The year of the test clock. */
const YEAR = 2026;
const ERASED = ['The customer was erased.'];

/** Returns the XML inside a PDF, which is the only stream that contains the root element of an e-invoice. */
function embedded(pdf: Buffer): string {
  const text = pdf.toString('latin1');
  for (const { index } of text.matchAll(/stream\n/g)) {
    const start = index + 'stream\n'.length;
    const stream = pdf.subarray(start, text.indexOf('endstream', start));
    try {
      const content = inflateSync(stream).toString();
      if (content.includes('CrossIndustryInvoice')) return content;
    } catch {
      // Not every stream is compressed.
    }
  }
  throw new Error('the PDF contains no e-invoice');
}

describe('documents of issued invoices', () => {
  test('the document of an invoice is made once, and every download returns the same bytes', async () => {
    const id = await issue();
    const first = await download(id);
    expect([first.status, first.headers.get('content-type')]).toEqual([200, 'application/pdf']);
    const pdf = Buffer.from(await first.arrayBuffer());
    server.later(3600);
    await setCompany({ name: 'Renamed GmbH' });
    expect((await pdfOf(id)).equals(pdf)).toBe(true);
    const ofInvoice = sql`select pdf_sha256 from invoice_documents where invoice_id = ${id}`;
    const pdf_sha256 = createHash('sha256').update(pdf).digest('hex');
    expect(await rows(server.runtime.db, ofInvoice)).toEqual([{ pdf_sha256 }]);
    expect(textOf(pdf)).toMatch(/^%PDF-1\.7/);
  });

  test('the XML of an invoice is the XML inside its PDF, apart from the name of the specification', async () => {
    const id = await issue();
    const pdf = await pdfOf(id);
    const answer = await download(id, 'application/xml');
    expect(answer.headers.get('content-type')).toBe('application/xml; charset=utf-8');
    const xml = await answer.text();
    expect(xml).toContain('xrechnung_3.0<');
    expect(embedded(pdf)).toBe(xml.replace(/#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0/, ''));
  });

  test('the document of an invoice keeps the seller, buyer, terms and language from when the invoice was issued', async () => {
    const terms = { buyer_reference: '04011000-12345-67', payment_terms: 'Net 60.' };
    const id = await issue({ company: 'Before AG', document_language: 'en', ...terms });
    const later = { buyer_reference: 'later', payment_terms: 'later', document_language: 'de' } as const;
    await server.runtime.db.update(customers).set({ company: 'After AG', ...later });
    await setCompany({ name: 'Renamed GmbH' });
    const { pdf, xml } = await filesOf(id);
    for (const part of [
      ...['Before AG', 'Muster Hosting GmbH', '<ram:Description>Net 60.</ram:Description>'],
      '<ram:BuyerReference>04011000-12345-67</ram:BuyerReference>',
    ]) {
      expect(xml).toContain(part);
    }
    expect(xml).not.toMatch(/After AG|Renamed|later/);
    expect(textOf(pdf)).toContain('/Lang (en-GB)');
  });

  test('an invoice document is refused while required fields are empty, and the error names them', async () => {
    await setCompany({ iban: null, tax_number: null, vat_id: null });
    const id = await issue({ street: null });
    expect(await describeDocument(server.runtime.db, id)).toMatchObject({
      isReady: false,
      missing: [{ field: 'iban' }, { field: 'tax_number' }, { owner: 'customer', field: 'street' }],
    });
    const refused = await download(id);
    expect([refused.status, (await refused.json()).detail]).toEqual([
      409,
      'The invoice has no document. These fields are empty: company: IBAN, company: Tax number or VAT ID, customer: Street.',
    ]);
    await setCompany();
    const { id: unissued } = await draft({ street: null });
    expect(await describeDocument(server.runtime.db, unissued)).toMatchObject({
      reasons: ['It is a draft. It gets its document when it is issued.'],
      missing: [{ owner: 'customer', field: 'street' }],
    });
    await server.runtime.db.update(customers).set({ street: 'Neue Gasse 2' });
    expect(await xmlOf(id)).toContain('Neue Gasse 2');
  });

  test('a VAT ID without a country code is no tax identity of the seller', async () => {
    // The settings refuse such an ID, but an earlier version saved it.
    await server.runtime.db.update(company).set({ country: 'NO', tax_number: null, vat_id: '912345678MVA' });
    const missing = [{ field: 'tax_number', label: 'Tax number or VAT ID' }];
    expect(await describeDocument(server.runtime.db, await issue())).toMatchObject({
      isReady: false,
      missing,
    });
    await setCompany();
  });
});

describe('documents of Stripe invoices', () => {
  test('the document of a Stripe invoice shows periods and discounts, requests no bank transfer, and stays once it is cancelled', async () => {
    const id = await stripeInvoice();
    const xml = await (await download(id, 'application/xml')).text();
    for (const part of [
      ...['BilledQuantity unitCode="C62">4.00', 'ChargeAmount>27.50', 'ActualAmount>10.00', 'ReasonCode>95'],
      ...['LineTotalAmount>100.00', 'TotalPrepaidAmount>30.00', 'DuePayableAmount>89.00', 'TypeCode>68'],
    ]) {
      expect(xml).toContain(`<ram:${part}<`);
    }
    expect(xml).toMatch(/StartDateTime>\s*<udt:DateTimeString format="102">20261001<.*20261031</s);
    expect(xml).not.toContain('IBANID');
    const first = await pdfOf(id);
    await server.runtime.db.update(invoices).set({ status: 'cancelled' }).where(eq(invoices.id, id));
    expect((await pdfOf(id)).equals(first)).toBe(true);
  });

  test('the document of a paid Stripe invoice says that nothing is left to pay, and needs no IBAN', async () => {
    await setCompany({ iban: null });
    const paid = { amount_paid: '119', amount_due: '0', balance_applied: null };
    const xml = await xmlOf(await stripeInvoice({ status: 'paid', ...paid }));
    expect(xml).toContain('<ram:DuePayableAmount>0.00<');
    expect(xml).toContain('Der Betrag ist beglichen.');
  });

  test('the document of a negative Stripe invoice says that its amount was credited to the balance', async () => {
    const sums = { subtotal: '-100', tax: '-19', total: '-119', amount_due: '0', balance_applied: '-119' };
    const id = await stripeInvoice({ ...sums, status: 'paid' }, { amount: '-19.00' });
    const line = { amount: '-100', discount: '0' };
    await server.runtime.db.update(stripeInvoiceLines).set(line).where(eq(stripeInvoiceLines.invoice_id, id));
    const xml = await xmlOf(id);
    expect(xml).toContain('Guthaben gutgeschrieben');
    expect(xml).toMatch(/<ram:BilledQuantity unitCode="C62">-4.00</);
    expect(xml).toContain('<ram:DuePayableAmount>0.00<');
  });

  test('two Stripe invoices with the same number have different file names in a month’s export', async () => {
    const date = { number: 'TWICE-1', invoice_date: '2031-05-02' };
    await stripeInvoice(date);
    const second = await stripeInvoice(date);
    const names = (await monthOf('2031-05')).map(({ files }) => files?.name);
    expect(names).toEqual(['invoice-TWICE-1', `invoice-TWICE-1-${second}`]);
  });

  test('erasing a customer first makes the documents of the customer’s Stripe invoices', async () => {
    const id = await stripeInvoice({ status: 'paid', amount_due: '0' });
    await eraseOwner(id);
    expect(await xmlOf(id)).toContain('Abo AG');
  });
});

describe('documents of credit notes', () => {
  const wanted = { reason: 'Zu viel berechnet', lines: [{ position: 1, quantity: 1 }] };
  async function creditNotesOf(customer = {}) {
    const { db } = server.runtime;
    const id = await issue(customer);
    await issueCreditNote(db, { id, version: 1 }, wanted, writer());
    await takeStep(db, invoiceSteps, 'cancel', { id, version: 2 }, writer());
    const [note, cancellation] = await listCreditNotes(db, id);
    if (!note || !cancellation) throw new Error('a credit note is missing');
    return { id, note, cancellation };
  }

  test('the document of a credit note has type 381, names its invoice and its reason, and is made once', async () => {
    const { id, note } = await creditNotesOf();
    const first = await download(note.id, 'application/pdf', 'credit-notes');
    const disposition = `attachment; filename="credit-note-${note.number}.pdf"`;
    expect([first.status, first.headers.get('content-disposition')]).toEqual([200, disposition]);
    const pdf = Buffer.from(await first.arrayBuffer());
    expect((await pdfOf(note.id, 'credit-notes')).equals(pdf)).toBe(true);
    const xml = embedded(pdf);
    expect(xml).toContain('<ram:TypeCode>381<');
    const reference = /<ram:InvoiceReferencedDocument>.*?<\/ram:InvoiceReferencedDocument>/s.exec(xml)?.[0];
    const { number, invoice_date } = await invoiceOf(id);
    expect(reference).toContain(`<ram:IssuerAssignedID>${number}<`);
    expect(reference).toContain(invoice_date.replaceAll('-', ''));
    expect(xml).toContain('Grund: Zu viel berechnet');
    expect(xml).not.toContain('IBANID');
  });

  test('the document of a cancellation contains the part of the invoice that was not credited, and needs no IBAN', async () => {
    await setCompany({ iban: null });
    const { cancellation } = await creditNotesOf();
    const xml = await (await download(cancellation.id, 'application/xml', 'credit-notes')).text();
    expect(xml).toMatch(/<ram:BilledQuantity unitCode="C62">1.00</);
    expect(xml).toContain('<ram:GrandTotalAmount>59.50<');
  });

  test('the credit note of a small business names the reason of its invoice after the company charges VAT', async () => {
    await setCompany({ small_business: true });
    const id = await issue({}, untaxed);
    await setCompany();
    await issueCreditNote(server.runtime.db, { id, version: 1 }, wanted, writer());
    const [note] = await listCreditNotes(server.runtime.db, id);
    const xml = await (await download(Number(note?.id), 'application/xml', 'credit-notes')).text();
    expect(xml).toContain('§ 19 UStG');
  });

  test('a credit note has no document while a required field is empty, and the reason names the field', async () => {
    await setCompany({ contact_phone: null });
    const { note } = await creditNotesOf();
    const refused = await download(note.id, 'application/pdf', 'credit-notes');
    expect([refused.status, (await refused.json()).detail]).toEqual([
      409,
      'The credit note has no document. These fields are empty: company: Telephone.',
    ]);
  });

  test('a month’s documents include credit notes, and those of an erased customer are deleted after the retention period', async () => {
    const { db } = server.runtime;
    const { id, note, cancellation } = await creditNotesOf({ company: 'Vergessen AG' });
    const numbers = (await monthOf(note.date.slice(0, 7))).map(({ number }) => number);
    expect(numbers).toEqual(expect.arrayContaining([note.number, cancellation.number]));
    await eraseOwner(id);
    const { xml } = await getCreditNoteDocument(db, note.id, moment());
    expect(xml).toContain('Vergessen AG');
    // Simulate a document that was never made, because the PDF font lacks a character. Its buyer's data is stored.
    const unmade = { pdf: null, xml: null, pdf_sha256: null, made_at: null };
    await db.update(creditNotes).set(unmade).where(eq(creditNotes.id, cancellation.id));
    await dropOldOn('2099-01-01');
    expect((await describeCreditNoteDocument(db, note.id)).reasons).toEqual(ERASED);
    const stored = await readRows(db, creditNotes, eq(creditNotes.invoice_id, id));
    expect(stored.map(({ buyer }) => buyer)).toEqual([null, null]);
  });
});

test.each<[string, string, string, string, number, ...Scope[]]>([
  ['an unknown invoice', 'application/pdf', '999999', 'invoices', 404],
  ['an invalid invoice id', 'application/pdf', 'x', 'invoices', 404],
  ['an unsupported media type', 'text/html', '1', 'invoices', 406],
  ['a media type with quality 0', 'application/pdf;q=0', '1', 'invoices', 406],
  ['an unknown credit note', 'application/pdf', '999999', 'credit-notes', 404],
  ['an unsupported media type of a credit note', 'text/html', '1', 'credit-notes', 406],
  ['a token that hides personal data', '*/*', '1', 'invoices', 403, 'without_personal_data'],
])('the download of a document is refused for %s', async (_, accept, id, list, status, ...scopes) => {
  expect((await download(id, accept, list, ...scopes)).status).toBe(status);
});

test.each([
  ['that is a draft', () => draft().then(({ id }) => id), 'It is a draft'],
  ['with totals but no lines', () => createInvoice(server.runtime.db).then(({ id }) => id), 'totals only'],
  ['of Stripe without all lines', () => stripeInvoice({ lines_complete: false }), 'all of its lines yet'],
  ['of Stripe that is a draft', () => stripeInvoice({ status: 'draft' }), 'It is a draft'],
  ['of Stripe that is void', () => stripeInvoice({ status: 'cancelled' }), 'Stripe voided it'],
  ['of Stripe without a number', () => stripeInvoice({ number: null }), 'BR-02'],
  ['of Stripe with a wrong total', () => stripeInvoice({ subtotal: '90', total: '107.1' }), 'BR-CO-10'],
  ['of Stripe with a sales tax', () => stripeInvoice({}, { type: 'sales_tax' }), 'BT-151'],
  ['of Stripe in an unknown script', () => stripeInvoice({}, {}, '株式会社'), 'Line 1 contains 株 式 会 社'],
  ['in a currency with three decimals', () => issue({ currency: 'kwd' }), 'has three'],
])('an invoice %s has no document, and describeDocument gives the reason', async (_, make, reason) => {
  expect((await reasonsOf(await make())).join(' ')).toContain(reason);
});

const VIENNA = { country: 'AT', city: 'Wien', postal_code: '1010' };
const untaxed: Line[] = [UNTAXED];
const as = (tax_category: TaxCategory): Line[] => [{ ...UNTAXED, tax_category }];

test.each([
  ['a domestic customer stores S', {}, LINES, 'S', null],
  ['a business in the EU stores AE', { ...VIENNA, vat_id: 'ATU00000001' }, untaxed, 'AE', 'VATEX-EU-AE'],
  ['a customer outside the EU stores O', { country: 'CH', vat_id: 'CHE-1' }, untaxed, 'O', 'VATEX-EU-O'],
  ['an exempt customer stores E', { tax_exempt: true }, untaxed, 'E', 'Steuerfreie Leistung.'],
  ['a domestic customer at 0 % stores Z', {}, untaxed, 'Z', null],
  ['goods to an EU business stores K', { ...VIENNA, vat_id: 'ATU00000001' }, as('K'), 'K', 'VATEX-EU-IC'],
  ['goods to a customer outside the EU stores G', { country: 'US' }, as('G'), 'G', 'VATEX-EU-G'],
])(
  'issuing an invoice for %s as the tax category of its line',
  async (_, customer, lines, category, reason) => {
    const id = await issue(customer, lines);
    const stored = await readRows(server.runtime.db, invoiceLines, sql`invoice_id = ${id}`);
    expect(stored).toMatchObject([{ tax_category: category }]);
    const xml = await xmlOf(id);
    expect(xml).toContain(`<ram:CategoryCode>${category}<`);
    if (reason) expect(xml).toContain(reason);
    // An e-invoice of category O, which is not subject to VAT, contains no VAT ID (BR-O-2).
    expect(xml.includes('schemeID="VA"')).toBe(category !== 'O');
    // Without a VAT ID, the e-invoice must identify the seller in another way (BR-CO-26).
    expect(xml.includes('<ram:SpecifiedLegalOrganization>')).toBe(category === 'O');
  },
);

test.each([
  ['VAT by a small business', { small_business: true }, {}, LINES, 'section 19 UStG'],
  ['taxed and untaxed lines outside the EU', {}, { country: 'US' }, [...LINES, ...untaxed], 'BR-O-11'],
  ['a name in an unknown script', {}, { company: '株式' }, LINES, 'customer’s company contains 株 式'],
  ['an unknown character in a line', {}, {}, [{ ...HOSTING, text: 'Tee ☕' }], 'Line 1 contains ☕'],
  ['VAT under reverse charge', {}, VIENNA, [{ ...HOSTING, tax_category: 'AE' as const }], 'BR-AE-5'],
  ['a supply within the EU to a customer without a VAT ID', {}, VIENNA, as('K'), 'BR-IC-2'],
])('issuing an invoice with %s is refused', async (_, company, customer, lines, rule) => {
  await setCompany(company);
  await expect(issue(customer, lines)).rejects.toThrow(rule);
});

test('the lines of a long invoice continue on further pages', async () => {
  const lines = Array.from({ length: 60 }, (_, i) => ({ ...UNTAXED, text: `Domain ${i + 1}` }));
  const { pdf } = await filesOf(await issue({}, lines));
  expect(textOf(pdf).match(/\/Type \/Page\b/g)?.length).toBeGreaterThan(2);
});

test('a discount has a negative quantity in the e-invoice, because prices must not be negative', async () => {
  const discount = { text: 'Rabatt', quantity: 1, unit_price: -10, tax_rate: 19 };
  const xml = await xmlOf(await issue({}, [...LINES, discount]));
  expect(xml).toMatch(/<ram:BilledQuantity unitCode="C62">-1.00</);
  expect(xml).not.toMatch(/<ram:ChargeAmount>-/);
});

test('the zip of a month contains each document, and a list that says why other invoices have no document', async () => {
  const { db } = server.runtime;
  const { name, pdf } = await filesOf(await issue());
  const today = now().toISOString().slice(0, 10);
  const { number } = await createInvoice(db, { invoice_date: today });
  const files = unzipSync(await buffer(documentsZip(db, today.slice(0, 7), moment())));
  const isSame = (file: Uint8Array) => Buffer.from(file).equals(Buffer.from(pdf));
  expect(Object.keys(files).filter((path) => isSame(files[path] as Uint8Array))).toEqual([`${name}.pdf`]);
  expect(strFromU8(files[`${name}.xml`] ?? new Uint8Array())).toContain('CrossIndustryInvoice');
  const list = strFromU8(files['without-document.txt'] ?? new Uint8Array());
  expect(list).toMatch(new RegExp(`^${number}: .*totals only`, 'm'));
});

describe('the PDF of a sales document', () => {
  async function offer(
    type: string,
    customer: Partial<typeof customers.$inferInsert> = {},
    lines: Line[] = LINES,
  ) {
    const { db } = server.runtime;
    const { customer_number } = await createCustomer(db, { ...BERLIN, ...customer });
    const values = { type, customer_number, lines, valid_until: '2099-12-31' };
    return (await saveRecord(db, salesDocumentKind, { values }, writer())).id;
  }
  const send = (id: number) =>
    takeStep(server.runtime.db, salesDocumentSteps, 'send', { id, version: 0 }, writer());

  test('a draft offer has no PDF, and a sent offer has a PDF that never changes', async () => {
    const { db } = server.runtime;
    const id = await offer('offer');
    await expect(getSalesFile(db, id, moment())).rejects.toThrow('It is a draft');
    expect(await describeSalesFile(db, await offer('offer', { street: null }))).toMatchObject({
      reasons: ['It is a draft. It gets its PDF when it is marked as sent.'],
      missing: [{ owner: 'customer', field: 'street' }],
    });
    await send(id);
    const { pdf, name } = await getSalesFile(db, id, moment());
    expect(name).toMatch(/^offer-/);
    server.later(3600);
    await setCompany({ name: 'Renamed GmbH' });
    expect(textOf((await getSalesFile(db, id, moment())).pdf)).toBe(textOf(pdf));
    expect(textOf(pdf)).not.toContain('/EmbeddedFile');
  });

  test.each<[string, Line, string]>([
    ['a character that the PDF cannot print', { ...HOSTING, text: 'Server 🚀' }, 'Line 1 contains 🚀'],
    ['a tax category that its customer cannot have', { ...UNTAXED, tax_category: 'K' }, 'BR-IC'],
  ])(
    'an offer with %s cannot be sent, because its lines could no longer be changed, but a file may say that it was sent',
    async (_, line, problem) => {
      const id = await offer('offer', {}, [line]);
      await expect(send(id)).rejects.toMatchObject({
        fields: [{ field: 'lines', message: expect.stringContaining(problem) }],
      });
      const dryRun = { ...writer(), importId: null };
      const draft = { id, values: { status: 'sent' } };
      expect(await saveRecord(server.runtime.db, salesDocumentKind, draft, dryRun)).toEqual({ id });
    },
  );

  test('the PDF of an order confirmation requires the address of its customer, but no IBAN', async () => {
    const { db } = server.runtime;
    const id = await offer('order_confirmation', { street: null, email: null });
    await send(id);
    await setCompany({ iban: null });
    expect((await describeSalesFile(db, id)).missing).toMatchObject([{ owner: 'customer', field: 'street' }]);
  });

  test('the PDF of an erased customer’s offer is deleted when the retention period is over', async () => {
    const { db } = server.runtime;
    const id = await offer('offer');
    await send(id);
    await getSalesFile(db, id, moment());
    await db.update(customers).set({ erased_at: now() });
    await dropOldOn(`${YEAR + 9}-01-01`);
    expect((await describeSalesFile(db, id)).reasons).toEqual(ERASED);
    await db.update(customers).set({ erased_at: null });
  });
});

test('the documents of an erased customer keep the customer’s name until the retention period ends', async () => {
  const { db } = server.runtime;
  const id = await issue({ company: 'Vergessen GmbH' });
  const paid = { status: 'paid', amount_due: '0', paid_at: now() } as const;
  await db.update(invoices).set(paid).where(eq(invoices.id, id));
  await eraseOwner(id);
  expect(await xmlOf(id)).toContain('Vergessen GmbH');
  await dropOldOn(`${YEAR + 8}-12-31`);
  expect(await xmlOf(id)).toContain('Vergessen GmbH');
  await dropOldOn(`${YEAR + 9}-01-01`);
  expect(await rows(db, sql`select from invoice_documents where invoice_id = ${id}`)).toEqual([]);
  expect(await reasonsOf(id)).toEqual(ERASED);
});

describe('the logo of the company', () => {
  /** A PNG of a single pixel, red and half transparent. */
  const PNG = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DQAAAEgQGALFXOsAAAAABJRU5ErkJggg==',
    'base64',
  );
  /** Returns the same PNG with another width in its header. */
  const resized = (width: number) => {
    const file = Buffer.from(PNG);
    file.writeUInt32BE(width, 16);
    return file;
  };
  const logoOf = async () => (await getCompany(server.runtime.db)).logo;

  test('an invoice keeps the logo with which it was issued after the company has removed the logo', async () => {
    await setCompany({}, PNG);
    const id = await issue();
    await setCompany();
    expect(await logoOf()).toBe(`data:image/png;base64,${PNG.toString('base64')}`);
    await setCompany({}, null);
    expect(await logoOf()).toBeNull();
    expect(textOf((await filesOf(id)).pdf)).toMatch(/\/Subtype \/Image/);
  });

  test('the audit log contains the digest of a logo instead of the picture', async () => {
    await setCompany({}, PNG);
    const written = await readRows(server.runtime.db, auditLog, sql`action = 'company.update'`);
    expect(written.at(-1)?.after).toMatchObject({ logo: expect.stringMatching(/^SHA-256 [\da-f]{64}$/) });
    await setCompany({}, null);
  });

  test.each([
    ['a text', Buffer.from('<svg/>'), 'must be a PNG or JPEG file'],
    ['a PNG without its pixels', PNG.subarray(0, 40), 'cannot be read'],
    ['a PNG with damaged pixels', Buffer.from(PNG).fill(0, 45, 50), 'cannot be read'],
    ['a PNG that claims to be larger than its pixels', resized(40), 'cannot be read'],
    ['a PNG 1,501 pixels wide', resized(1501), 'at most 1500'],
    ['a JPEG without a picture', Buffer.from('ffd8ffe000104a46ffd9', 'hex'), 'cannot be read'],
    ['a file of 200,001 bytes', Buffer.alloc(200_001), 'at most 200 KB'],
  ])('%s is refused as a logo', async (_, file, message) => {
    const problem = { field: 'logo', message: expect.stringContaining(message) };
    await expect(setCompany({}, file)).rejects.toMatchObject({ fields: [problem] });
  });
});

const EXAMPLE = '.* such as DE89 3704 0044 0532 0130 00$';
test.each([
  ['iban', 'DE89 3704 0044 0532 0130 01', `its check digits 89 do not match${EXAMPLE}`],
  ['iban', '0532013000', `must be a two-letter country code, two digits${EXAMPLE}`],
  ['bic', 'COBA', ''],
  ['vat_id', 'DE12', ''],
  ['payment_terms', '#30 days', '#SKONTO#'],
  ['contact_email', 'nobody', ''],
  ['contact_phone', 'none', ''],
  ['country', 'Atlantis', ''],
])('the company is not saved with the invalid %s %s', async (field, value, reason) => {
  const message = expect.stringMatching(reason);
  await expect(setCompany({ [field]: value })).rejects.toMatchObject({ fields: [{ field, message }] });
  expect(await getCompany(server.runtime.db)).toMatchObject({
    [field]: DEMO_COMPANY[field as 'iban'] ?? null,
  });
});

test('a company outside the EU is not saved with a VAT ID that starts with no country code', async () => {
  const norway = { country: 'NO', vat_id: 'NO912345678MVA' };
  await setCompany(norway);
  const problem = { field: 'vat_id', message: expect.stringMatching('must start with a country code') };
  const unsaved = setCompany({ ...norway, vat_id: '912345678MVA' });
  await expect(unsaved).rejects.toMatchObject({ fields: [problem] });
});
