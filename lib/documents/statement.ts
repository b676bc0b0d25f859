import { buffer } from 'node:stream/consumers';
import { eq } from 'drizzle-orm';
import { type Database, pickColumns } from '@/db/database';
import { customers } from '@/db/schema';
import { toCalendarDate } from '../dates';
import { AppError } from '../errors';
import { MAX_ID } from '../page';
import { unprintable } from '../printable';
import { getCompany } from './company';
import { createPdf } from './pdf';
import { type Language, languageFor, PHRASES } from './phrases';
import { formatDay, numberFormats } from './printed-texts';
import {
  createPen,
  drawLetterhead,
  drawPageParts,
  mm,
  type Parties,
  type Pen,
  SHEET,
  writeFacts,
  writePlain,
} from './sheet';
import { type EntryKind, readStatements, type Statement, type StatementPeriod } from './statement-entries';

/** Maximum number of entries in a PDF. */
const MAX_ENTRIES = 2000;

interface PrintedStatement extends Parties {
  /** Day on which the statement was made. */
  date: string;
  period: StatementPeriod;
  statements: Statement[];
}

/**
 * Makes the PDF of a customer's statement of account. It is not stored, so each download shows the current state.
 *
 * @throws AppError not_found; conflict if the customer was erased, or if the statement cannot be printed
 */
export async function getStatementFile(
  db: Database,
  customerId: number,
  period: StatementPeriod,
  { now, timeZone }: { now: Date; timeZone: string },
): Promise<{ pdf: Uint8Array; name: string }> {
  const [buyer] = await db
    .select()
    .from(customers)
    .where(eq(customers.id, Math.min(customerId, MAX_ID)));
  if (!buyer) throw new AppError('not_found', `There is no customer ${customerId}.`);
  if (buyer.erased_at) throw new AppError('conflict', 'There is no PDF. The customer was erased.');
  const seller = await getCompany(db);
  const { name: company, street, postal_code, city, country } = seller;
  if (![company, street, postal_code, city, country].every(Boolean)) {
    throw new AppError(
      'conflict',
      'There is no PDF. The company needs a name and an address in the settings.',
    );
  }
  const statements = await readStatements(db, customerId, period, timeZone);
  const entries = statements.flatMap((one) => one.entries);
  if (entries.length > MAX_ENTRIES) {
    throw new AppError(
      'conflict',
      `There is no PDF. It would have more than ${MAX_ENTRIES} entries. Choose a shorter period.`,
    );
  }
  const { logo: _, ...printed } = seller;
  const texts = [
    ...Object.values(printed),
    ...Object.values(pickColumns(buyer, 'customer_number', 'company', 'first_name', 'last_name')),
    ...Object.values(pickColumns(buyer, 'street', 'postal_code', 'city')),
    ...entries.map(({ reference }) => reference),
  ];
  const lacking = unprintable(texts.filter((text) => typeof text === 'string').join(''));
  if (lacking.length > 0) {
    throw new AppError(
      'conflict',
      `There is no PDF. The font of documents has no character for ${lacking.join(' ')}.`,
    );
  }
  const date = toCalendarDate(now, timeZone);
  const language = buyer.document_language ?? languageFor(buyer.country);
  const address = { postal_code: buyer.postal_code ?? '', city: buyer.city ?? '' };
  const pdf = await toPdf(
    { seller, buyer: { ...buyer, ...address }, language, date, period, statements },
    now,
  );
  const name = `statement-${buyer.customer_number}-${period.to ?? date}`.replace(/[^\w.-]+/g, '-');
  return { pdf, name };
}

async function toPdf(printed: PrintedStatement, now: Date): Promise<Uint8Array> {
  const { title } = TEXTS[printed.language];
  const document = await createPdf(title, printed.language, now);
  const root = document.struct('Document');
  document.addStructure(root);
  const pen = createPen(document, root);
  drawLetterhead(pen, printed);
  drawFacts(pen, printed);
  drawTitle(pen, printed);
  for (const statement of printed.statements) drawStatement(pen, printed, statement);
  root.end();
  drawPageParts(document, printed, title);
  document.end();
  return buffer(document);
}

function drawFacts(pen: Pen, { buyer, date, language }: PrintedStatement): void {
  writeFacts(pen, [
    [TEXTS[language].asOf, formatDay(date, language)],
    [PHRASES[language].customerNumber, buyer.customer_number],
  ]);
}

function drawTitle(pen: Pen, { language, date, period: { from, to }, statements }: PrintedStatement): void {
  const texts = TEXTS[language];
  const place = { x: SHEET.left, width: SHEET.right - SHEET.left };
  const day = (text: string) => formatDay(text, language);
  pen.y = SHEET.first;
  pen.y = pen.write(pen.root, 'H1', texts.title, { ...place, font: 'bold', size: 14 }) + 4;
  const days = from ? texts.between(day(from), day(to ?? date)) : texts.until(day(to ?? date));
  pen.y = pen.write(pen.root, 'P', statements.length > 0 ? days : `${days} ${texts.nothing}`, place) + 8;
}

const COLUMNS = {
  date: { x: SHEET.left, width: mm(32), align: 'left' },
  kind: { x: SHEET.left + mm(33), width: mm(40), align: 'left' },
  reference: { x: SHEET.left + mm(74), width: mm(40), align: 'left' },
  amount: { x: SHEET.left + mm(115), width: mm(24), align: 'right' },
  balance: { x: SHEET.left + mm(141), width: mm(24), align: 'right' },
} as const;
type Column = keyof typeof COLUMNS;
const NAMES = Object.keys(COLUMNS) as Column[];

/** Writes the table of one currency, from the opening to the closing balance. Repeats the header on each page. */
function drawStatement(pen: Pen, { language, period, date }: PrintedStatement, statement: Statement): void {
  const { document } = pen;
  const texts = TEXTS[language];
  const { currency, opening, entries, closing } = statement;
  const { amount } = numberFormats({ language, currency });
  const format = (number: number) => amount(String(number));
  pen.require(60);
  const heading = `${texts.currency} ${currency.toUpperCase()}`;
  pen.y = pen.write(pen.root, 'H2', heading, { x: SHEET.left, width: mm(100), font: 'bold', size: 10 }) + 4;
  const table = document.struct('Table');
  pen.root.add(table);
  const write = (tag: 'TH' | 'TD', cells: Partial<Record<Column, string>>, font: 'regular' | 'bold') => {
    const height = Math.max(
      ...NAMES.map((name) => pen.heightOf(cells[name] ?? '', { ...COLUMNS[name], font })),
    );
    pen.require(height);
    const row = document.struct('TR');
    table.add(row);
    const y = pen.y;
    for (const name of NAMES) pen.write(row, tag, cells[name] ?? '', { ...COLUMNS[name], y, font });
    row.end();
    pen.y = y + height + 3;
  };
  const endHead = () => {
    pen.rule(pen.y);
    pen.y += 4;
  };
  write('TH', texts.columns, 'bold');
  endHead();
  pen.onPage = () => {
    const y = pen.y;
    pen.decorate(() => {
      for (const name of NAMES)
        writePlain(document, texts.columns[name], { ...COLUMNS[name], y, font: 'bold' });
    });
    pen.y = y + 15;
    endHead();
  };
  const day = (text: string | undefined) => (text === undefined ? '' : formatDay(text, language));
  if (period.from)
    write('TD', { date: day(period.from), kind: texts.opening, balance: format(opening) }, 'bold');
  for (const entry of entries) {
    const { kind, reference } = entry;
    const amounts = { amount: format(entry.amount), balance: format(entry.balance) };
    write('TD', { date: day(entry.date), kind: texts.kinds[kind], reference, ...amounts }, 'regular');
  }
  pen.rule(pen.y);
  pen.y += 4;
  write('TD', { date: day(period.to ?? date), kind: texts.closing, balance: format(closing) }, 'bold');
  table.end();
  pen.onPage = () => {};
  const place = { x: SHEET.left, width: SHEET.right - SHEET.left };
  if (closing < 0) pen.y = pen.write(pen.root, 'P', texts.credit, place);
  pen.y += 14;
}

interface Texts {
  title: string;
  asOf: string;
  currency: string;
  between(from: string, to: string): string;
  until(to: string): string;
  nothing: string;
  columns: Record<Column, string>;
  opening: string;
  closing: string;
  credit: string;
  kinds: Record<EntryKind, string>;
}

const TEXTS: Record<Language, Texts> = {
  de: {
    title: 'Kontoauszug',
    asOf: 'Stand',
    currency: 'Währung',
    between: (from, to) => `Zeitraum: ${from} bis ${to}.`,
    until: (to) => `Alle Buchungen bis ${to}.`,
    nothing: 'Es gibt keine Buchungen.',
    columns: { date: 'Datum', kind: 'Vorgang', reference: 'Beleg', amount: 'Betrag', balance: 'Saldo' },
    opening: 'Anfangssaldo',
    closing: 'Endsaldo',
    credit: 'Ein negativer Saldo ist Ihr Guthaben.',
    kinds: {
      invoice: 'Rechnung',
      credit_note: 'Gutschrift',
      cancellation: 'Storno',
      settled: 'Anderweitig ausgeglichen',
      payment: 'Zahlung',
      refund: 'Erstattung',
      credit: 'Zahlung ohne Rechnung',
      paid_back: 'Auszahlung von Guthaben',
    },
  },
  en: {
    title: 'Statement of account',
    asOf: 'As of',
    currency: 'Currency',
    between: (from, to) => `Period: ${from} to ${to}.`,
    until: (to) => `All entries until ${to}.`,
    nothing: 'There are no entries.',
    columns: { date: 'Date', kind: 'Entry', reference: 'Reference', amount: 'Amount', balance: 'Balance' },
    opening: 'Opening balance',
    closing: 'Closing balance',
    credit: 'A negative balance is your credit.',
    kinds: {
      invoice: 'Invoice',
      credit_note: 'Credit note',
      cancellation: 'Cancellation',
      settled: 'Settled otherwise',
      payment: 'Payment',
      refund: 'Refund',
      credit: 'Payment without invoice',
      paid_back: 'Credit paid back',
    },
  },
};
