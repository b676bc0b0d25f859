import { type SQL, sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { customers, mergedCustomers } from '@/db/schema';
import { isInEu } from '../countries';
import {
  categoryOfReason,
  type TaxCategory,
  type TaxedBuyer,
  usualCategory,
} from '../customers/tax-category';
import { addDays } from '../dates';
import { type Company, getCompany } from '../documents/company';
import { AppError } from '../errors';
import { addUp, readStripeRates } from '../invoices/lines';
import { type Entry, isReversal, readEntries } from './accounting-csv';
import { type AccountingSettings, getAccountingSettings } from './accounting-settings';

/** Summary of a month's DATEV file: the number of postings, the omitted entries, and the missing settings. */
export interface DatevPlan {
  postings: number;
  /** Names of missing settings and accounts. The file can be written only if there are none. */
  missing: string[];
  /** Entries that are not in the file, with the reason for each, up to `MAX_NAMED` entries. */
  leftOut: string[];
  leftOutCount: number;
}

/** Maximum number of omitted entries that a plan names. */
export const MAX_NAMED = 100;

/** Reads a month's accounting entries, and summarizes their DATEV file. */
export async function planDatev(db: Database, month: string): Promise<DatevPlan> {
  return toPlan(db, month, await readBasis(db));
}

/** Settings and accounts that the postings of every month use. */
interface Basis {
  settings: AccountingSettings;
  company: Pick<Company, 'country' | 'small_business'>;
  /** See `readSharedAccounts`. */
  shared: Map<string, string>;
}

async function readBasis(db: Database): Promise<Basis> {
  const settings = await getAccountingSettings(db);
  return { settings, company: await getCompany(db), shared: await readSharedAccounts(db, settings) };
}

async function toPlan(db: Database, month: string, basis: Basis): Promise<DatevPlan> {
  const { settings } = basis;
  const missing = new Set<string>();
  if (!settings.consultant_number) missing.add('Consultant number');
  if (!settings.client_number) missing.add('Client number');
  const plan: DatevPlan = { postings: 0, missing: [], leftOut: [], leftOutCount: 0 };
  for await (const found of readPostings(db, month, basis)) {
    for (const one of found) {
      if ('missing' in one) missing.add(one.missing);
      else if ('leftOut' in one) {
        plan.leftOutCount += 1;
        if (plan.leftOut.length < MAX_NAMED) plan.leftOut.push(one.leftOut);
      } else plan.postings += 1;
    }
  }
  return { ...plan, missing: [...missing].sort() };
}

/** Returns the name of a file without its extension. DATEV recognizes files by the prefix. */
export const datevName = (month: string) => `EXTF_Buchungsstapel_${month}`;

/**
 * Returns a month as DATEV's posting batch, in chunks: EXTF format 700, category 21, version 13, in Windows-1252.
 *
 * @param onLeftOut function that gets the reason for each entry that is not in this file
 * @throws AppError conflict with the names of missing settings and accounts
 */
export async function* datevFile(
  db: Database,
  month: string,
  now: Date,
  onLeftOut: (reason: string) => void = () => {},
): AsyncGenerator<Uint8Array> {
  const basis = await readBasis(db);
  const { missing } = await toPlan(db, month, basis);
  if (missing.length > 0) throw needsSettings(missing);
  yield toWindows1252([headerLine(basis.settings, month, now), COLUMNS.join(';'), ''].join('\r\n'));
  for await (const found of readPostings(db, month, basis)) {
    const lines = found.map((one) => {
      if ('missing' in one) throw needsSettings([one.missing]); // Entries may have been added since the first reading.
      if ('amount' in one) return `${postingLine(one)}\r\n`;
      onLeftOut(one.leftOut);
      return '';
    });
    yield toWindows1252(lines.join(''));
  }
}

const needsSettings = (missing: string[]) =>
  new AppError('conflict', `The file for DATEV needs these settings: ${missing.join(', ')}.`);

/** A tax rate of an invoice in percent, and its category. The category is null for the default category. */
export interface InvoiceTax {
  rate: number;
  category: TaxCategory | null;
}

type Outcome = Posting | { missing: string } | { leftOut: string };

async function* readPostings(db: Database, month: string, basis: Basis) {
  const { settings, company } = basis;
  for await (const entries of readEntries(db, month)) {
    const taxes = await readTaxes(db, entries, ratesOf(settings), company);
    yield entries
      .filter(({ gross }) => Number(gross) !== 0)
      .map((entry) => toPosting(entry, taxes.get(entry.invoice_id ?? 0) ?? [], basis));
  }
}

/**
 * Returns the debtor accounts that the numbers of several customers give, such as A-12 and B-12, each with up to five of
 * these numbers. Empty if there is a collective account. Looks at all customers, not only at those of one month, so that
 * their present numbers never share an account.
 */
async function readSharedAccounts(
  db: Database,
  { accounts }: AccountingSettings,
): Promise<Map<string, string>> {
  const base = accounts['debtor base'];
  if (accounts.debtor || !base) return new Map();
  const found = await rows<{ account: string; numbers: string }>(
    db,
    sql`select (${base}::numeric + digits::numeric)::text as account, array_to_string((array_agg(distinct number))[1:5], ', ') as numbers
      from (select id, customer_number as number, regexp_replace(customer_number, '[^0-9]', '', 'g') as digits
        from (select id, customer_number from ${customers}
          union all select customer_id, customer_number from ${mergedCustomers}) numbered) customer
      where digits <> '' group by 1 having min(id) <> max(id)`,
  );
  return new Map(found.map(({ account, numbers }) => [account, numbers]));
}

/**
 * Reads the tax rates and categories of the entries' invoices from their lines. If an invoice has no lines that add up to
 * its totals, the rate is derived from the totals.
 */
async function readTaxes(
  db: Database,
  entries: Entry[],
  rates: number[],
  seller: Pick<Company, 'country'>,
): Promise<Map<number, InvoiceTax[]>> {
  const ids = [...new Set(entries.flatMap(({ invoice_id }) => invoice_id ?? []))];
  const found = await rows<
    { id: number; subtotal: string; tax: string; lines: InvoiceTax[] | null } & TaxedBuyer
  >(
    db,
    sql`select i.id, i.subtotal::text, i.tax::text, (
        select jsonb_agg(distinct jsonb_build_object('rate', l.tax_rate::float, 'category', l.tax_category))
          from invoice_lines l where l.invoice_id = i.id) as lines,
        coalesce(d.buyer->>'country', c.country) as country, coalesce(d.buyer->>'vat_id', c.vat_id) as vat_id,
        coalesce((d.buyer->>'tax_exempt')::boolean, c.tax_exempt) as tax_exempt
      from invoices i join customers c on c.id = i.customer_id left join invoice_documents d on d.invoice_id = i.id
      where i.id in (${each(ids)})`,
  );
  const fromStripe = await readStripeRates(
    db,
    found.flatMap(({ id, lines }) => (lines ? [] : id)),
  );
  const taxesOfStripe = (id: number, totals: { subtotal: string; tax: string }, buyer: TaxedBuyer) => {
    const rates = fromStripe.get(id);
    if (!rates || !addUp(rates, { net: totals.subtotal, tax: totals.tax })) return undefined;
    return rates.flatMap(({ tax_rate, reasons }): InvoiceTax[] => {
      const named = [...reasons].flatMap((reason) => categoryOfReason(reason, buyer, seller) ?? []);
      const categories = named.length > 0 ? new Set(named) : [null];
      return [...categories].map((category) => ({ rate: Number(tax_rate), category }));
    });
  };
  return new Map(
    found.map(({ id, subtotal, tax, lines, ...buyer }) => {
      const taxes =
        lines ?? taxesOfStripe(id, { subtotal, tax }, buyer) ?? taxesOfTotals(subtotal, tax, rates);
      const exempt = buyer.tax_exempt ? 'E' : null;
      return [id, taxes.map((one) => (one.rate === 0 ? { ...one, category: one.category ?? exempt } : one))];
    }),
  );
}

const each = (ids: number[]): SQL =>
  sql`select jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb)::int`;

/** Returns the rates above zero that have a revenue account. */
function ratesOf({ accounts }: AccountingSettings): number[] {
  return Object.keys(accounts).flatMap((purpose) => {
    const [, rate] = /^revenue S (.+)$/.exec(purpose) ?? [];
    return rate === undefined ? [] : Number(rate);
  });
}

/**
 * Returns the only rate that explains an invoice's tax to the cent, as an array of one element. The rate is 0 if the
 * tax is 0. Returns an empty array if no rate or several rates explain the tax.
 */
export function taxesOfTotals(subtotal: string, tax: string, rates: number[]): InvoiceTax[] {
  if (Number(tax) === 0) return [{ rate: 0, category: null }];
  const cents = (amount: string) => Math.round(Number(amount) * 100);
  const exact = rates.filter((rate) => Math.round((cents(subtotal) * rate) / 100) === cents(tax));
  const [rate] = exact;
  return exact.length === 1 && rate !== undefined ? [{ rate, category: 'S' }] : [];
}

/** A posting between a debtor and another account. */
export interface Posting {
  /** Amount without sign, with a decimal comma. */
  amount: string;
  /** `S` debits the debtor, `H` credits the debtor. */
  side: 'S' | 'H';
  account: string;
  contra: string;
  key: string;
  /** Posting date as a calendar date. */
  date: string;
  document: string;
  text: string;
  /** VAT ID of the customer, for the recapitulative statement. Empty if the posting is not reported there. */
  vatId: string;
}

/** First words of a posting's text. They are German, because DATEV's programs and users are German. */
const TEXTS: Record<Entry['record'], string> = {
  invoice: 'Rechnung',
  credit: 'Gutschrift',
  write_off: 'Forderungsverlust',
  balance: 'Guthaben',
  paid_elsewhere: 'Zahlung ohne Beleg',
  payment: 'Zahlung',
  refund: 'Erstattung',
};

/** Names of entries in messages about entries that the file omits. */
const NAMES: Record<Entry['record'], string> = {
  invoice: 'Invoice',
  credit: 'Credit note',
  write_off: 'Write-off',
  balance: 'Balance at Stripe',
  paid_elsewhere: 'Payment recorded elsewhere',
  payment: 'Payment',
  refund: 'Refund',
};

/**
 * Returns the posting of an accounting entry, the name of a missing account, or the reason why the entry cannot be
 * posted.
 */
export function toPosting(entry: Entry, taxes: InvoiceTax[], { settings, company, shared }: Basis): Outcome {
  const { record, gross, currency, invoice_number, credit_note_number, invoice_id } = entry;
  // Unassigned credit of a transfer has no invoice. Use the transfer's reference instead of a number.
  const number =
    credit_note_number ?? invoice_number ?? (invoice_id === null ? entry.payment_reference : null);
  const isCancelled = isReversal(entry);
  const kind = isCancelled && record === 'invoice' ? 'Cancellation' : NAMES[record];
  const name = `${kind} ${number ?? `#${invoice_id}`}`;
  const leftOut = (reason: string) => ({ leftOut: `${name}: ${reason}` });
  if (currency !== 'eur') return leftOut(`its currency is ${currency.toUpperCase()}.`);
  const account = debtorOf(entry, { settings, shared });
  if (typeof account !== 'string') return 'leftOut' in account ? leftOut(account.leftOut) : account;
  const contra = contraOf(entry, taxes, company);
  if ('leftOut' in contra) return leftOut(contra.leftOut);
  const found = settings.accounts[contra.purpose];
  if (found === undefined) return { missing: contra.label };
  const [contraAccount = '', key = ''] = found.split(' ');
  // An invoice debits the debtor. Money that arrives credits the debtor.
  const isClaim = record === 'invoice' || record === 'credit' || record === 'write_off';
  return {
    amount: Math.abs(Number(gross)).toFixed(2).replace('.', ','),
    side: Number(gross) > 0 === isClaim ? 'S' : 'H',
    account,
    contra: contraAccount,
    key,
    date: entry.booked_on,
    // Keep only the characters that every reader of the format accepts.
    document: (number ?? String(invoice_id)).replace(/[^A-Za-z0-9$%/-]/g, '-').slice(0, 36),
    text: `${isCancelled ? 'Storno ' : ''}${TEXTS[record]} ${entry.customer_name}`
      .replace(/\s+/g, ' ')
      .slice(0, 60),
    vatId: contra.isInEu ? (entry.customer_vat_id ?? '').replace(/\W/g, '').slice(0, 15) : '',
  };
}

function debtorOf({ customer_number }: Entry, { settings, shared }: Pick<Basis, 'settings' | 'shared'>) {
  const { accounts, account_length } = settings;
  if (accounts.debtor) return accounts.debtor;
  const base = accounts['debtor base'];
  if (!base) return { missing: 'Debtor account' };
  const digits = customer_number.replace(/\D/g, '');
  const account = String(Number(base) + Number(digits));
  // In DATEV, the accounts of debtors start with 1 to 6, and those of creditors with 7 to 9.
  if (!digits || !/^[1-6]/.test(account) || account.length !== account_length + 1)
    return { leftOut: `the customer number ${customer_number} gives no debtor account.` };
  const numbers = shared.get(account);
  if (numbers) return { leftOut: `the customer numbers ${numbers} give the same debtor account ${account}.` };
  return account;
}

type Contra = { purpose: string; label: string; isInEu?: boolean } | { leftOut: string };

/** Returns the purpose of the account opposite the debtor's, or the reason why the entry cannot be posted. */
function contraOf(
  entry: Entry,
  taxes: InvoiceTax[],
  { country, small_business }: Pick<Company, 'country' | 'small_business'>,
): Contra {
  const { record } = entry;
  if (record === 'balance') return { purpose: 'balance', label: 'Account of the balance at Stripe' };
  if (record === 'paid_elsewhere') {
    return { purpose: 'paid_elsewhere', label: 'Account of payments that are recorded elsewhere' };
  }
  if (record === 'payment' || record === 'refund') {
    const method = entry.method ?? 'staff';
    return { purpose: `payment ${method}`, label: `Account of payments by ${method}` };
  }
  const rates = [...new Set(taxes.map(({ rate }) => rate))];
  const rate = entry.tax_rate === null ? rates[0] : Number(entry.tax_rate);
  if (rate === undefined) return { leftOut: 'its totals fit no tax rate that has a revenue account.' };
  if (entry.tax_rate === null && rates.length > 1) return { leftOut: 'its invoice has several tax rates.' };
  if (record === 'write_off') {
    return { purpose: `write_off ${rate}`, label: `a line “${rate}” in Write-off accounts` };
  }
  const buyer = { country: entry.customer_country, vat_id: entry.customer_vat_id, tax_exempt: false };
  const usual = usualCategory(rate, buyer, { country: country ?? '', small_business });
  const stored = taxes.filter((one) => one.rate === rate).map(({ category }) => category ?? usual);
  const [category = usual, ...others] = new Set(stored);
  if (others.length > 0) return { leftOut: `its lines with ${rate} % have several tax categories.` };
  // Reverse charge outside the EU is not taxable here, and does not belong in the recapitulative statement.
  const isOutside = category === 'AE' && buyer.country !== null && !isInEu(buyer.country);
  const posted = isOutside ? 'O' : category;
  return {
    purpose: `revenue ${posted} ${rate}`,
    label: `a line “${posted} ${rate}” in Revenue accounts`,
    isInEu: posted === 'AE' || posted === 'K',
  };
}

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
const compact = (date: string) => date.replaceAll('-', '');

/** Returns the first line of the file, which has 31 fields. */
export function headerLine(settings: AccountingSettings, month: string, now: Date): string {
  const [year = 0, at = 1] = month.split('-').map(Number);
  const first = settings.fiscal_year_month;
  const fiscalYear = `${at >= first ? year : year - 1}${String(first).padStart(2, '0')}01`;
  const last = addDays(addDays(`${month}-01`, 31).replace(/\d\d$/, '01'), -1);
  const created = now.toISOString().replace(/\D/g, '');
  return [
    ...[quoted('EXTF'), '700', '21', quoted('Buchungsstapel'), '13', created, '', '""', '""', '""'],
    ...[settings.consultant_number ?? '', settings.client_number ?? '', fiscalYear],
    ...[String(settings.account_length), `${compact(month)}01`, compact(last)],
    // These are the name of the batch, initials, type of posting (1 means financial accounting), accounting purpose (0
    // means any), lock flag (0 means not locked) and currency.
    ...[quoted(`Rechnungsausgang ${month}`), '""', '1', '0', '0', quoted('EUR')],
    ...['', '""', '', '', '""', '', '', '""', '""'],
  ].join(';');
}

/** Returns the line of a posting, with one field for each of `COLUMNS`. */
export function postingLine(posting: Posting): string {
  const { amount, side, account, contra, key, date, document, text, vatId } = posting;
  const [, month = '', day = ''] = date.split('-');
  const cells: Record<string, string> = {
    'Umsatz (ohne Soll/Haben-Kz)': amount,
    'Soll/Haben-Kennzeichen': quoted(side),
    'WKZ Umsatz': quoted('EUR'),
    Konto: account,
    'Gegenkonto (ohne BU-Schlüssel)': contra,
    'BU-Schlüssel': quoted(key),
    Belegdatum: day + month,
    'Belegfeld 1': quoted(document),
    Buchungstext: quoted(text),
    'EU-Land u. UStID (Bestimmung)': quoted(vatId),
    Festschreibung: '0',
  };
  return COLUMNS.map((column) => cells[column] ?? '').join(';');
}

const numbered = (count: number, ...names: string[]) =>
  Array.from({ length: count }, (_, at) => names.map((name) => `${name} ${at + 1}`)).flat();

/** The columns of a posting batch, version 13. */
export const COLUMNS: readonly string[] = [
  ...'Umsatz (ohne Soll/Haben-Kz);Soll/Haben-Kennzeichen;WKZ Umsatz;Kurs;Basis-Umsatz;WKZ Basis-Umsatz'.split(
    ';',
  ),
  ...'Konto;Gegenkonto (ohne BU-Schlüssel);BU-Schlüssel;Belegdatum;Belegfeld 1;Belegfeld 2;Skonto'.split(';'),
  ...'Buchungstext;Postensperre;Diverse Adressnummer;Geschäftspartnerbank;Sachverhalt;Zinssperre'.split(';'),
  'Beleglink',
  ...numbered(8, 'Beleginfo - Art', 'Beleginfo - Inhalt'),
  ...'KOST1 - Kostenstelle;KOST2 - Kostenstelle;Kost-Menge;EU-Land u. UStID (Bestimmung)'.split(';'),
  ...'EU-Steuersatz (Bestimmung);Abw. Versteuerungsart;Sachverhalt L+L;Funktionsergänzung L+L'.split(';'),
  ...'BU 49 Hauptfunktionstyp;BU 49 Hauptfunktionsnummer;BU 49 Funktionsergänzung'.split(';'),
  ...numbered(20, 'Zusatzinformation - Art', 'Zusatzinformation- Inhalt'),
  ...'Stück;Gewicht;Zahlweise;Forderungsart;Veranlagungsjahr;Zugeordnete Fälligkeit;Skontotyp'.split(';'),
  ...'Auftragsnummer;Buchungstyp;USt-Schlüssel (Anzahlungen);EU-Land (Anzahlungen)'.split(';'),
  ...'Sachverhalt L+L (Anzahlungen);EU-Steuersatz (Anzahlungen);Erlöskonto (Anzahlungen);Herkunft-Kz'.split(
    ';',
  ),
  ...'Buchungs GUID;KOST-Datum;SEPA-Mandatsreferenz;Skontosperre;Gesellschaftername'.split(';'),
  ...'Beteiligtennummer;Identifikationsnummer;Zeichnernummer;Postensperre bis'.split(';'),
  ...'Bezeichnung SoBil-Sachverhalt;Kennzeichen SoBil-Buchung;Festschreibung;Leistungsdatum'.split(';'),
  ...'Datum Zuord. Steuerperiode;Fälligkeit;Generalumkehr (GU);Steuersatz;Land;Abrechnungsreferenz'.split(
    ';',
  ),
  ...'BVV-Position;EU-Land u. UStID (Ursprung);EU-Steuersatz (Ursprung);Abw. Skontokonto'.split(';'),
];

/** The characters of the bytes 0x80 to 0x9F. A space stands for a byte without a character. */
const CHARACTERS_FROM_80 = '€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ';

/** The byte of each character. Some versions of Node.js decode Windows-1252 as Latin-1, so the table is written out. */
const BYTES = new Map([
  ...Array.from(CHARACTERS_FROM_80, (character, at): [string, number] => [character, 128 + at]),
  ...Array.from({ length: 256 }, (_, byte): [string, number] => [String.fromCharCode(byte), byte]),
]);

/** Encodes a text in Windows-1252. A letter that is not in the table loses its accent. Other characters become `?`. */
export function toWindows1252(text: string): Uint8Array {
  const QUESTION_MARK = 63;
  return Uint8Array.from(
    [...text.normalize('NFC')].map(
      (character) => BYTES.get(character) ?? BYTES.get(character.normalize('NFD')[0] ?? '') ?? QUESTION_MARK,
    ),
  );
}
