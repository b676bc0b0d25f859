import { csvRows, linesOf, rowTexts } from '../imports/text-file';
import type { DecimalSeparator } from '../read-amount';
import {
  type DayForm,
  isReturn,
  joinStatements,
  refuse,
  type StatedEntry,
  type Statement,
  sumOf,
  toAmount,
  toCurrency,
  toDay,
  toIban,
  toLine,
} from './statement';

/** Format of a bank's CSV files. Its column names are in lower case. */
interface BankFormat {
  bank: string;
  day: string;
  form: DayForm;
  amount: string;
  /** Column with the currency, or the currency itself if the name of the amount column contains it. */
  currency: string | { is: string };
  /** Columns with the name of the other party. The first is used for incoming, the last for outgoing money. */
  names: string[];
  iban?: string;
  purpose: string[];
  reference?: string;
  /** Column with the IBAN of our account. */
  account?: string;
  /** Column with the balance after the entry. */
  balance?: string;
  /** Column with a fee that the bank subtracts from the amount. */
  fee?: string;
  /** Column with the state of an entry, and the pattern of the state of booked entries. */
  state?: [column: string, booked: RegExp];
}

/**
 * Known formats, from files that the banks' customers can download. A file's column names select its format. A file
 * without a header is recognized by `isElba`.
 */
const FORMATS: BankFormat[] = [
  {
    bank: 'Sparkasse',
    day: 'buchungstag',
    form: 'german',
    amount: 'betrag',
    currency: 'waehrung',
    names: ['beguenstigter/zahlungspflichtiger'],
    iban: 'kontonummer/iban',
    purpose: ['verwendungszweck', 'kundenreferenz (end-to-end)', 'buchungstext'],
    account: 'auftragskonto',
    state: ['info', /gebucht/i],
  },
  {
    bank: 'DKB',
    day: 'buchungsdatum',
    form: 'german',
    amount: 'betrag (€)',
    currency: { is: 'eur' },
    names: ['zahlungspflichtige*r', 'zahlungsempfänger*in'],
    iban: 'iban',
    purpose: ['verwendungszweck', 'kundenreferenz'],
    state: ['status', /^gebucht$/i],
  },
  {
    bank: 'ING',
    day: 'buchung',
    form: 'german',
    amount: 'betrag',
    currency: 'währung',
    names: ['auftraggeber/empfänger'],
    balance: 'saldo',
    purpose: ['verwendungszweck', 'buchungstext'],
  },
  {
    bank: 'Commerzbank',
    day: 'buchungstag',
    form: 'german',
    amount: 'betrag',
    currency: 'währung',
    names: [],
    purpose: ['buchungstext'],
    account: 'iban kontoinhaber',
  },
  {
    bank: 'Volksbank',
    day: 'buchungstag',
    form: 'german',
    amount: 'betrag',
    currency: 'waehrung',
    names: ['name zahlungsbeteiligter'],
    iban: 'iban zahlungsbeteiligter',
    purpose: ['verwendungszweck', 'buchungstext'],
    account: 'iban auftragskonto',
    balance: 'saldo nach buchung',
  },
  {
    bank: 'Erste',
    day: 'buchungsdatum',
    form: 'german',
    amount: 'betrag',
    currency: 'währung',
    names: ['partnername'],
    iban: 'partner iban',
    purpose: ['zahlungsreferenz', 'buchungs-details', 'buchungs-info', 'buchungstext'],
    reference: 'buchungsreferenz',
  },
  {
    bank: 'Raiffeisen',
    day: 'buchungsdatum',
    form: 'german',
    amount: 'betrag',
    currency: 'währung',
    names: [],
    purpose: ['umsatztext'],
  },
  {
    bank: 'N26',
    day: 'booking date',
    form: 'iso',
    amount: 'amount (eur)',
    currency: { is: 'eur' },
    names: ['partner name'],
    iban: 'partner iban',
    purpose: ['payment reference'],
  },
  {
    bank: 'Revolut',
    day: 'completed date',
    form: 'iso',
    amount: 'amount',
    fee: 'fee',
    currency: 'currency',
    names: [],
    purpose: ['description'],
    balance: 'balance',
    state: ['state', /^completed$/i],
  },
  {
    bank: 'Wise',
    day: 'date',
    form: 'british',
    amount: 'amount',
    currency: 'currency',
    names: ['payer name', 'payee name'],
    iban: 'payee account number',
    balance: 'running balance',
    purpose: ['payment reference', 'description'],
    reference: 'transferwise id',
  },
];

/** The banks with a known CSV format. */
export const CSV_BANKS = FORMATS.map(({ bank }) => bank);

/** A row of the file, and its line number. */
interface Row {
  line: number;
  cells: string[];
}

const DELIMITERS = [';', ',', '\t'];
/** The columns of Raiffeisen ELBA's file, which has no header. */
const ELBA = ['buchungsdatum', 'umsatztext', 'valutadatum', 'betrag', 'währung', 'zeitstempel'];
/** Number of rows in which to look for the header. Banks write the account and the period before the header. */
const MAX_PREAMBLE = 20;
const ROWS_AT_ONCE = 1000;

/**
 * Reads the CSV file of a bank in `CSV_BANKS`.
 *
 * @throws AppError validation_failed with the reason, and with the line if a single line is wrong
 */
export async function readBankCsv(text: string): Promise<Statement> {
  for (const delimiter of DELIMITERS) {
    const { rows, broken } = await toRows(text, delimiter);
    const elba = FORMATS.find((one) => fits(one, ELBA));
    if (elba && !broken && isElba(rows[0])) return toStatement(elba, ELBA, [], rows);
    for (const [at, { cells }] of rows.slice(0, MAX_PREAMBLE).entries()) {
      const names = cells.map((cell) => cell.trim().toLowerCase());
      const format = FORMATS.find((one) => fits(one, names));
      if (!format) continue;
      if (broken) throw refuse(broken.problem, broken.line);
      return toStatement(format, names, rows.slice(0, at), rows.slice(at + 1));
    }
  }
  throw refuse(`is neither CAMT.053 nor MT940 nor a CSV file of ${CSV_BANKS.join(', ')}`);
}

async function toRows(text: string, delimiter: string) {
  const rows: Row[] = [];
  let broken: { line: number; problem: string } | undefined;
  const pieces = (async function* () {
    yield text;
  })();
  for await (const batch of csvRows(rowTexts(linesOf(pieces), delimiter), { delimiter }, ROWS_AT_ONCE)) {
    for (const row of batch) {
      if ('problem' in row) broken ??= row;
      else rows.push(row);
    }
  }
  return { rows, broken };
}

/** Returns whether a row has the form of Raiffeisen ELBA's entries: date, text, date, amount, currency, time. */
function isElba(row: Row | undefined): boolean {
  const [day = '', , valued = '', amount = '', currency = '', at = ''] = row?.cells ?? [];
  const isDay = (text: string) => /^\d\d\.\d\d\.\d{4}/.test(text.trim());
  const isEntry = /^[-+\d.]+,\d\d$/.test(amount.trim()) && /^[A-Z]{3}$/.test(currency.trim());
  return row?.cells.length === ELBA.length && [day, valued, at].every(isDay) && isEntry;
}

function fits(format: BankFormat, names: string[]): boolean {
  const { day, amount, currency, purpose, account, balance, state, fee } = format;
  const needed = [day, amount, purpose[0], account, balance, state?.[0], fee, ...format.names];
  return [...needed, typeof currency === 'string' ? currency : undefined].every(
    (name) => name === undefined || names.includes(name),
  );
}

function toStatement(format: BankFormat, names: string[], preamble: Row[], rows: Row[]): Statement {
  const cellOf = ({ cells }: Row, name: string | undefined) =>
    (name === undefined ? undefined : cells[names.indexOf(name)])?.trim() ?? '';
  const booked: {
    row: Row;
    entry: StatedEntry;
    currency: string;
    account: string | null;
    after: number | null;
  }[] = [];
  // German banks write German dates and German amounts.
  const separator: DecimalSeparator = format.form === 'german' ? ',' : '.';
  for (const row of rows) {
    if (row.cells.every((cell) => cell.trim() === '')) continue;
    if (row.cells.length < names.length - 1) throw refuse('has fewer cells than the header', row.line);
    if (format.state && !format.state[1].test(cellOf(row, format.state[0]))) continue;
    const currency =
      typeof format.currency === 'string'
        ? toCurrency(cellOf(row, format.currency), row.line)
        : format.currency.is;
    const read = (name: string) => toAmount(cellOf(row, name), currency, separator, row.line);
    const fee = format.fee && cellOf(row, format.fee) !== '' ? read(format.fee) : 0;
    const amount = read(format.amount) - fee;
    const account = toIban(cellOf(row, format.account));
    const after = format.balance ? read(format.balance) : null;
    booked.push({
      row,
      currency,
      account,
      after,
      entry: toEntry(format, row, amount, (name) => cellOf(row, name)),
    });
  }
  const [first] = booked;
  if (!first) throw refuse('has no booked entry');
  for (const { row, currency, account } of booked) {
    if (currency !== first.currency) throw refuse('is in another currency than the rows before', row.line);
    if (account !== first.account) throw refuse('is of another account than the rows before', row.line);
  }
  const days = booked.map(({ entry }) => entry.day).sort();
  const iban =
    first.account ?? preamble.flatMap(({ cells }) => cells.flatMap((cell) => toIban(cell) ?? []))[0];
  return joinStatements([
    {
      line: first.row.line,
      iban: iban ?? null,
      currency: first.currency,
      from: days[0] ?? '',
      to: days.at(-1) ?? '',
      ...balancesOf(booked),
      entries: booked.map(({ entry }) => entry),
    },
  ]);
}

function toEntry(format: BankFormat, row: Row, amount: number, cell: (name: string) => string): StatedEntry {
  const party = (amount > 0 ? format.names[0] : format.names.at(-1)) ?? '';
  const purpose = toLine(...format.purpose.map(cell));
  return {
    line: row.line,
    day: toDay(cell(format.day), format.form, row.line),
    amount,
    name: toLine(party === '' ? '' : cell(party)) || null,
    // Do not look for an IBAN in the text. The payer can write it, so it could apply the rule of another customer.
    iban: toIban(cell(format.iban ?? '')),
    purpose,
    reference: toLine(cell(format.reference ?? '')) || null,
    is_return: isReturn({ text: purpose }),
  };
}

/**
 * Returns the balances before and after all entries, or nulls if the file has no column with the balance after each
 * entry. The first row is the oldest or the latest entry, depending on the bank.
 *
 * @throws AppError validation_failed if a balance does not follow from the previous one
 */
function balancesOf(booked: { row: Row; entry: StatedEntry; after: number | null }[]) {
  const [top, bottom] = [booked[0], booked.at(-1)];
  if (!top || !bottom || top.after === null || bottom.after === null) return { opening: null, closing: null };
  const breakIn = (rows: typeof booked) =>
    rows.find(({ entry, after }, at) => at > 0 && after !== (rows[at - 1]?.after ?? 0) + entry.amount);
  const upwards = booked.toReversed();
  const [down, up] = [breakIn(booked), breakIn(upwards)];
  if (down && up) {
    const isLatestFirst = top.entry.day > bottom.entry.day;
    throw refuse(
      'has a balance that does not follow from the row before it',
      (isLatestFirst ? up : down).row.line,
    );
  }
  const closing = (down ? top : bottom).after ?? 0;
  return { opening: closing - sumOf(booked.map(({ entry }) => entry)), closing };
}
