import { z } from 'zod';
import { isOneEditAway } from '../search-text';

export type CellType = 'text' | 'number' | 'amount' | 'percent' | 'boolean' | 'date' | 'instant' | 'list';

/** Columns that contain amounts of money. Their cells may also contain a currency. */
const AMOUNTS = new Set([
  ...['amount', 'price', 'unit_price', 'subtotal', 'tax', 'total'],
  ...['amount_paid', 'amount_due', 'amount_credited', 'refunded_amount'],
]);

/** Column of an import file. Its type follows from the schema of the field. */
export interface Column {
  /** Name of the field in our JSON. */
  name: string;
  type: CellType;
  /**
   * Result of an empty cell: null, an empty list (`none`), or a problem (`refused`). With `left out`, an existing
   * record keeps its value, and a new record gets the default.
   */
  empty: 'null' | 'left out' | 'none' | 'refused';
}

/**
 * Returns the columns of an import file for the given fields. A field has no column if its value cannot be written in a
 * cell.
 */
export function toColumns(fields: z.ZodObject): Column[] {
  return Object.entries(fields.shape).flatMap(([name, schema]) => {
    const { inner, isOptional, isNullable } = unwrap(schema);
    const found = typeOf(inner);
    if (!found) return [];
    const type = found === 'number' ? numberType(name) : found;
    const empty = isNullable ? 'null' : type === 'list' ? 'none' : isOptional ? 'left out' : 'refused';
    return [{ name, type, empty }];
  });
}

function numberType(name: string): CellType {
  return AMOUNTS.has(name) ? 'amount' : name === 'tax_rate' ? 'percent' : 'number';
}

type Unwrapped = { inner: z.core.$ZodType; isOptional: boolean; isNullable: boolean };

function unwrap(schema: z.core.$ZodType): Unwrapped {
  if (schema instanceof z.ZodOptional) return { ...unwrap(schema.unwrap()), isOptional: true };
  if (schema instanceof z.ZodNullable) return { ...unwrap(schema.unwrap()), isNullable: true };
  return { inner: schema, isOptional: false, isNullable: false };
}

function typeOf(schema: z.core.$ZodType): CellType | null {
  if (schema instanceof z.ZodISODate) return 'date';
  if (schema instanceof z.ZodNumber) return 'number';
  if (schema instanceof z.ZodBoolean) return 'boolean';
  if (schema instanceof z.ZodString || schema instanceof z.ZodEnum || schema instanceof z.ZodStringFormat)
    return 'text';
  if (schema instanceof z.ZodUnion) return 'instant'; // The only union among the fields is `instantOrDay`.
  return schema instanceof z.ZodArray && typeOf(schema.element) === 'text' ? 'list' : null;
}

/** Normalizes a column name for comparison. Ignores case, accents, spaces, and marks such as hyphens and dots. */
export function comparable(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replace(/[\s_.:'"\u00ad\u2010-\u2015-]/g, '');
}

/** Names under which other programs export our columns, normalized by `comparable` and separated by spaces. */
const OTHER_NAMES: Record<string, string> = {
  customer_number:
    'kunde kundennummer kundennr kundenr kdnr debitor customer customerid client clientid userid',
  first_name: 'vorname givenname prenom',
  last_name: 'nachname familienname surname familyname name nom',
  company: 'firma firmenname unternehmen organisation organization companyname societe',
  email: 'emailadresse emailaddress mail mailadresse',
  phone: 'telefon telefonnummer tel phonenumber telephone mobil mobile',
  street: 'strasse strassehausnummer anschrift adresse address address1 addressline1 rue',
  postal_code: 'plz postleitzahl zip zipcode postcode codepostal',
  city: 'ort wohnort stadt town ville',
  country: 'land landercode laendercode countrycode pays',
  vat_id: 'ustid ustidnr umsatzsteuerid uid uidnummer vat vatnumber taxid',
  tax_exempt: 'steuerfrei steuerbefreit',
  buyer_reference: 'leitwegid leitweg buyerreference',
  document_language: 'sprache language langue',
  payment_terms: 'zahlungsbedingungen zahlungsbedingung',
  currency: 'wahrung waehrung currencycode devise',
  status: 'zustand state',
  hostname: 'server servername host',
  service_number: 'vertrag vertragsnummer vertragsnr servicenummer contract serviceid',
  service_type: 'art typ type',
  name: 'bezeichnung produkt product titel',
  domain: 'domainname',
  price: 'preis betrag recurringamount',
  billing_interval: 'intervall turnus billingcycle interval',
  start_date: 'beginn start startdatum vertragsbeginn registrationdate',
  next_billing_date: 'nextduedate nachsteabrechnung naechsteabrechnung',
  ends_on: 'ende enddatum vertragsende',
  number: 'rechnungsnummer rechnungsnr rechnung belegnummer invoicenumber invoiceno invoice',
  invoice_number: 'rechnungsnummer rechnungsnr rechnung invoiceno invoice',
  document_number: 'angebotsnummer belegnummer',
  invoice_date: 'rechnungsdatum belegdatum datum date',
  document_date: 'belegdatum datum date',
  due_date: 'fallig faellig falligam faelligam falligkeit faelligkeit due dueon',
  valid_until: 'gultigbis gueltigbis',
  subtotal: 'netto nettobetrag net',
  tax: 'steuer steuerbetrag mwst ust vat',
  total: 'brutto bruttobetrag gesamt gesamtbetrag summe gross',
  amount_paid: 'bezahlt paid',
  paid_at: 'bezahltam datepaid paidon',
  payment_reference: 'referenz zahlungsreferenz verwendungszweck reference transactionid',
  payment_date: 'zahlungsdatum buchungstag buchungsdatum wertstellung valuta datum date',
  amount: 'betrag zahlbetrag umsatz',
  text: 'beschreibung bezeichnung leistung description',
  quantity: 'menge anzahl qty',
  unit_price: 'einzelpreis stuckpreis stueckpreis preis price',
  tax_rate: 'steuersatz mwstsatz mwst ust vat',
  tax_category: 'steuerkategorie taxcode vatcode',
  position: 'pos',
};

/**
 * Proposes our most likely column for each unknown column of a file. Proposes each of our columns at most once, and
 * only those that the file does not have yet.
 *
 * @param theirs column names of the file that are unknown to us
 * @param columns all columns of the file, with our column for each known one
 * @returns names of our columns in the order of `theirs`; undefined for a column without a likely match
 */
export function proposeColumns(theirs: string[], columns: { ours: Column | null }[], known: Column[]) {
  const taken = new Set(columns.map(({ ours }) => ours?.name));
  const free = new Set(known.flatMap(({ name }) => (taken.has(name) ? [] : name)));
  return theirs.map((name) => {
    const found = proposeColumn(name, [...free]);
    if (found !== undefined) free.delete(found);
    return found;
  });
}

function proposeColumn(theirs: string, free: string[]): string | undefined {
  const wanted = comparable(theirs);
  const isNear = (name: string) => name === wanted || isOneEditAway(name, wanted);
  return (
    free.find((name) => OTHER_NAMES[name]?.split(' ').includes(wanted)) ??
    free.find((name) => wanted.length > 4 && isNear(comparable(name)))
  );
}
