import {
  isReturn,
  joinStatements,
  refuse,
  type StatedEntry,
  type Statement,
  toAmount,
  toCurrency,
  toDay,
  toIban,
  toLine,
} from './statement';

/** A field of a message, such as `:61:`, with its lines. */
interface Field {
  tag: string;
  line: number;
  text: string;
}

/** Returns whether a file looks like MT940 (SWIFT's customer statement message). */
export const isMt940 = (text: string): boolean => /^:(20|25):/m.test(text.slice(0, 2000));

/**
 * Reads a file of MT940 messages. A field `:86:` may have the subfields of German banks, such as `?20`. Without them,
 * its whole text is the purpose.
 *
 * @throws AppError validation_failed with the reason, and with the line if a single line is wrong
 */
export function readMt940(text: string): Statement {
  const parts: (Statement & { line: number })[] = [];
  let current: Partial<OpenStatement> = {};
  for (const field of fieldsOf(text)) {
    if (field.tag === '20') {
      if (current.line !== undefined)
        throw refuse('begins a message before the last one has a closing balance', field.line);
      current = { line: field.line, entries: [] };
      continue;
    }
    if (current.entries === undefined) {
      if (parts.length > 0 && AFTER_CLOSING.test(field.tag)) continue;
      throw refuse(`has the field :${field.tag}: outside of a message`, field.line);
    }
    if (/^62[FM]$/.test(field.tag)) {
      parts.push(closeStatement(current as OpenStatement, field));
      current = {};
    } else {
      current = withField(current as OpenStatement, field);
    }
  }
  if (current.line !== undefined && current.entries)
    throw refuse('begins a message without a closing balance', current.line);
  return joinStatements(parts);
}

// SWIFT puts the available balances (64, 65) and a text about the whole statement (86) after the closing balance.
const AFTER_CLOSING = /^(64|65|86)$/;

interface OpenStatement {
  line: number;
  account: string;
  currency: string;
  from: string;
  opening: number;
  entries: StatedEntry[];
}

function* fieldsOf(text: string): Generator<Field> {
  let field: Field | undefined;
  for (const [at, raw] of text.split(/\r?\n/).entries()) {
    const row = raw.trimEnd();
    const [, tag, rest = ''] = /^:(\d\d[A-Z]?):(.*)$/.exec(row) ?? [];
    if (tag !== undefined) {
      if (field) yield field;
      field = { tag, line: at + 1, text: rest };
    } else if (/^(-|(-\})?(\{[1-5S]:.*)?)$/.test(row)) {
      // The current field ends at a blank line, at a SWIFT block such as `{1:`, and at the end of a message (`-`). SWIFT
      // may write further blocks after the end of a message on the same line, such as `-}{5:`.
      if (field) yield field;
      field = undefined;
    } else if (field) {
      field.text += `\n${row}`;
    } else {
      throw refuse('does not belong to any field', at + 1);
    }
  }
  if (field) yield field;
}

// These fields are not read, for example available balances (64, 65), statement numbers (28C) and totals (90D, 90C).
const UNUSED = /^(13D?|21|28C?|34F|64|65|90[CD])$/;

function withField(open: OpenStatement, field: Field): OpenStatement {
  const { tag, line, text } = field;
  if (tag === '25') return { ...open, account: text.trim() };
  if (/^60[FM]$/.test(tag)) {
    const { day, currency, amount } = toBalance(field);
    return { ...open, from: day, currency, opening: amount };
  }
  if (tag === '61') {
    if (open.currency === undefined) throw refuse('has an entry before the opening balance', line);
    // Do not copy the list. A file may have hundreds of thousands of entries before it is refused for their number.
    open.entries.push(toEntry(field, open.currency));
    return open;
  }
  if (tag === '86') {
    const last = open.entries.pop();
    if (last) open.entries.push(withDetails(last, text));
    return open;
  }
  if (!UNUSED.test(tag)) throw refuse(`has the field :${tag}:, which MT940 does not have`, line);
  return open;
}

/** Reads a balance such as `C261031EUR1234,56`. */
function toBalance({ text, line }: Field) {
  const [, mark, day = '', code, amount = ''] =
    /^([CD])(\d{6})([A-Z]{3})([\d.]+,?\d*)$/.exec(text.trim()) ?? [];
  if (mark === undefined) throw refuse('has a balance that cannot be read', line);
  const currency = toCurrency(code, line);
  const thousandths = toAmount(amount.replace(/,$/, ''), currency, ',', line);
  return { day: toDay(day, 'short', line), currency, amount: mark === 'D' ? -thousandths : thousandths };
}

function closeStatement(open: OpenStatement, field: Field): Statement & { line: number } {
  const { day, currency, amount } = toBalance(field);
  if (open.opening === undefined)
    throw refuse('has a closing balance without an opening balance', field.line);
  if (currency !== open.currency) throw refuse('has a closing balance in another currency', field.line);
  const days = open.entries
    .map((entry) => entry.day)
    .concat(day)
    .sort();
  return {
    line: open.line,
    iban: toAccount(open.account ?? '', open.line),
    currency,
    from: days[0] ?? day,
    to: days.at(-1) ?? day,
    opening: open.opening,
    closing: amount,
    entries: open.entries,
  };
}

/**
 * Returns the IBAN of an account. The text is an IBAN, or a German bank code, a slash and an account number.
 */
function toAccount(text: string, line: number): string {
  const iban = toIban(text.replace(/\/?[A-Z]{3}$/, '')) ?? toIban(text);
  if (iban) return iban;
  const [, bank, account] = /^(\d{8})\/(\d{1,10})(?:[A-Z]{3})?$/.exec(text) ?? [];
  if (bank === undefined || account === undefined)
    throw refuse('begins a message whose account cannot be read', line);
  const number = bank + account.padStart(10, '0');
  // Calculate the check digits (ISO 13616): D counts as 13 and E as 14, and the whole number modulo 97 must be 1.
  const check = 98n - (BigInt(`${number}131400`) % 97n);
  return `DE${String(check).padStart(2, '0')}${number}`;
}

// The groups are: value date, booking date, mark (C or D, after R for a reversal), third letter of the currency,
// amount, type, customer's reference, bank's reference, further text.
const ENTRY =
  /^(\d{6})(\d{4})?(R?[CD])([A-Z])?(\d+,\d*)([NSF][A-Z\d]{3})((?:(?!\/\/)[^\n])*)(?:\/\/([^\n]*))?(?:\n([\s\S]*))?$/;

function toEntry({ text, line }: Field, currency: string): StatedEntry {
  const [, valued = '', booked, mark = '', , amount = '', type = '', own = '', banks] =
    ENTRY.exec(text) ?? [];
  if (mark === '') throw refuse('has an entry that cannot be read', line);
  const thousandths = toAmount(amount.replace(/,$/, ''), currency, ',', line);
  // RC reverses a credit, so money leaves the account. RD reverses a debit, so money arrives.
  const leaves = mark === 'D' || mark === 'RC';
  return {
    line,
    day: bookingDay(toDay(valued, 'short', line), booked, line),
    amount: leaves ? -thousandths : thousandths,
    name: null,
    iban: null,
    purpose: own.trim() === 'NONREF' ? '' : toLine(own),
    reference: toLine(banks) || null,
    is_return: mark.startsWith('R') || isReturn({ codes: [type], text: own }),
  };
}

/**
 * Returns the booking date, or the value date if the file gives no booking date. A booking date has no year in the
 * file, so the date closest to the value date is chosen.
 */
function bookingDay(valued: string, booked: string | undefined, line: number): string {
  if (booked === undefined) return valued;
  const year = Number(valued.slice(0, 4));
  const distance = (day: string) => Math.abs(Date.parse(day) - Date.parse(valued));
  const days = [year - 1, year, year + 1]
    .map((one) => `${one}-${booked.slice(0, 2)}-${booked.slice(2)}`)
    .filter((day) => !Number.isNaN(Date.parse(day)));
  const [closest] = days.sort((a, b) => distance(a) - distance(b));
  if (closest === undefined) throw refuse('has a booking date that is not a day', line);
  return toDay(closest, 'iso', line);
}

const KEYWORD = /(EREF|KREF|MREF|CRED|DEBT|COAM|OAMT|SVWZ|ABWA|ABWE|IBAN|BIC)\+/;

function withDetails(entry: StatedEntry, text: string): StatedEntry {
  const [, code = '', mark, body = ''] = /^(\d{3})([?>@~])([\s\S]*)$/.exec(text) ?? [];
  if (mark === undefined) {
    const purpose = toLine(entry.purpose, text.replaceAll('\n', ' '));
    return { ...entry, purpose, is_return: entry.is_return || isReturn({ text: purpose }) };
  }
  const subs = new Map(
    body
      .replaceAll('\n', '')
      .split(mark)
      .map((part): [string, string] => [part.slice(0, 2), part.slice(2)]),
  );
  const join = (from: number, to: number) =>
    [...subs].flatMap(([key, part]) => (Number(key) >= from && Number(key) <= to ? part : [])).join('');
  const parts = `${join(20, 29)}${join(60, 63)}`.split(KEYWORD);
  const keyed = (key: string) => parts[parts.indexOf(key, 1) + 1];
  const isKeyed = parts.length > 1;
  const own = parts.includes('EREF') ? keyed('EREF')?.replace(/^NOTPROVIDED$/i, '') : '';
  const purpose = isKeyed
    ? toLine(parts[0], parts.includes('SVWZ') ? keyed('SVWZ') : '', own)
    : toLine(parts[0]);
  return {
    ...entry,
    name: toLine(join(32, 33)) || null,
    // Do not use `IBAN+` of the text. The payer can write it, so it could apply the rule of another customer.
    iban: toIban(subs.get('31')),
    purpose: toLine(entry.purpose, purpose),
    is_return: entry.is_return || isReturn({ codes: [code], text: purpose }),
  };
}
