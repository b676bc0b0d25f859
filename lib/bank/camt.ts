import { setImmediate as nextTurn } from 'node:timers/promises';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
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

/** An XML element: lists of child elements by name, attributes by name with `@`, and the text with the key `#`. */
type Element = { [name: string]: Element[] | string };

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  textNodeName: '#',
  alwaysCreateTextNode: true,
  removeNSPrefix: true,
  parseTagValue: false,
  parseAttributeValue: false,
  // The parser decodes XML's five predefined entities. A file that declares other entities was refused before parsing.
  processEntities: true,
  isArray: (_name, _path, _leaf, isAttribute) => !isAttribute,
});

/** Returns whether a file looks like XML. */
export const isXml = (text: string): boolean => text.trimStart().startsWith('<');

/** Number of characters to parse before other requests get a turn. Parsing them takes about 30 ms. */
const SLICE = 50_000;

/**
 * Reads a CAMT.053 file, versions 02 and 08. Entries that are not booked are left out. An entry with several
 * transactions becomes one entry per transaction if all of them have an amount in the statement's currency. A large
 * file takes seconds, so its entries are parsed one by one, and other requests are answered in between.
 *
 * @throws AppError validation_failed with the reason, and with the line if a single line is wrong
 */
export async function readCamt(text: string): Promise<Statement> {
  const declared = /<!(DOCTYPE|ENTITY)/i.exec(text);
  if (declared)
    throw refuse('declares a document type or an entity, which is not allowed', lineAt(text, declared.index));
  const { frame, cut } = cutEntries(text);
  const root = parse(frame, 1);
  const statements = all(root, 'Document', 'BkToCstmrStmt', 'Stmt');
  const [space] = /camt\.\d{3}\.\d{3}\.\d{2}/.exec(text.slice(0, 3000)) ?? [];
  if (statements.length === 0 || (space !== undefined && !/^camt\.053\.001\.(02|08)$/.test(space))) {
    throw refuse(`is ${space ?? 'XML'}: export CAMT.053 in version 02 or 08`);
  }
  const starts = linesOf(text, /<(?:\w+:)?Stmt[\s>]/g);
  const read: Parameters<typeof joinStatements>[0] = [];
  for (const [at, one] of statements.entries()) read.push(await toStatement(one, starts[at] ?? 1, cut));
  return joinStatements(read);
}

/** Parses XML. @param line the line of the file on which the text begins */
function parse(text: string, line: number): Element {
  const valid = XMLValidator.validate(text);
  if (valid !== true) throw refuse(`is damaged: ${valid.err.msg}`.slice(0, 200), valid.err.line + line - 1);
  return parser.parse(text) as Element;
}

/** An entry's text, and the line on which it begins. */
interface CutEntry {
  xml: string;
  line: number;
}

/**
 * Cuts the entries out of a file. In the remaining frame, each entry is replaced by an empty entry with the
 * attribute `cut` and the same number of lines. A damaged entry may stay in the frame, where parsing finds the damage.
 */
function cutEntries(text: string): { frame: string; cut: CutEntry[] } {
  const cut: CutEntry[] = [];
  const frame: string[] = [];
  const tags = /<!--|<!\[CDATA\[|<(\/?)(?:[\w.-]+:)?Ntry(?:\s[^<>]*)?>/g;
  let [line, kept, start] = [1, 0, -1];
  for (let tag = tags.exec(text); tag; tag = tags.exec(text)) {
    const [mark, slash] = tag;
    if (slash === undefined) {
      // Tags in comments and in CDATA sections are text.
      const end = text.indexOf(mark === '<!--' ? '-->' : ']]>', tag.index + mark.length);
      if (end < 0) break;
      tags.lastIndex = end;
    } else if (slash === '') {
      if (!mark.endsWith('/>')) start = tag.index;
    } else if (start >= 0) {
      const before = text.slice(kept, start);
      const xml = text.slice(start, tags.lastIndex);
      line += breaksIn(before);
      frame.push(before, `<Ntry cut="${cut.length}">${'\n'.repeat(breaksIn(xml))}</Ntry>`);
      cut.push({ xml, line });
      line += breaksIn(xml);
      [kept, start] = [tags.lastIndex, -1];
    }
  }
  return { frame: frame.join('') + text.slice(kept), cut };
}

const breaksIn = (text: string) => text.split('\n').length - 1;

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

function linesOf(text: string, pattern: RegExp): number[] {
  const lines: number[] = [];
  let [line, from] = [1, 0];
  for (const { index } of text.matchAll(pattern)) {
    line += text.slice(from, index).split('\n').length - 1;
    from = index;
    lines.push(line);
  }
  return lines;
}

/** Returns all elements at a path. */
function all(of: Element | undefined, ...path: string[]): Element[] {
  return path.reduce<Element[]>(
    (found, name) =>
      found.flatMap((one) => {
        const children = one[name];
        return Array.isArray(children) ? children : [];
      }),
    of ? [of] : [],
  );
}

/** Returns the text of the first element at a path. Returns '' if the element does not exist. */
function textAt(of: Element | undefined, ...path: string[]): string {
  const [found] = all(of, ...path);
  return found ? textOf(found) : '';
}

function textOf(element: Element): string {
  const text = element['#'];
  return (Array.isArray(text) ? text.map(String).join('') : String(text ?? '')).trim();
}

async function toStatement(stated: Element, line: number, cut: CutEntry[]) {
  const account = textAt(stated, 'Acct', 'Id', 'IBAN');
  const iban = toIban(account);
  if (!iban) throw refuse('begins a statement without an IBAN', line);
  const balances = all(stated, 'Bal').map((one) => toBalance(one, line));
  const opening =
    balances.find(({ code }) => code === 'OPBD') ?? balances.find(({ code }) => code === 'PRCD');
  const closing = balances.findLast(({ code }) => code === 'CLBD');
  if (!opening || !closing) throw refuse('begins a statement without an opening and a closing balance', line);
  const { currency } = opening;
  if (closing.currency !== currency) throw refuse('begins a statement with balances in two currencies', line);
  const entries = await readEntries(stated, currency, cut);
  const dated = [textAt(stated, 'FrToDt', 'FrDtTm'), textAt(stated, 'FrToDt', 'ToDtTm')].map((text) =>
    text === '' ? null : toDay(text, 'iso', line),
  );
  // An entry outside of the stated period would be on no statement's page.
  const days = [...entries.map(({ day }) => day), ...dated.map((day) => day ?? closing.day)].sort();
  return {
    line,
    iban,
    currency,
    opening: opening.amount,
    closing: closing.amount,
    entries,
    from: days[0] ?? closing.day,
    to: days.at(-1) ?? closing.day,
  };
}

async function readEntries(stated: Element, currency: string, cut: CutEntry[]): Promise<StatedEntry[]> {
  const entries: StatedEntry[] = [];
  let parsed = 0;
  for (const placed of all(stated, 'Ntry')) {
    const found = cut[Number(placed['@cut'])];
    if (!found) continue; // An empty element has no status, so it is not booked.
    for (const entry of all(parse(found.xml, found.line), 'Ntry'))
      entries.push(...toEntries(entry, currency, found.line));
    parsed += found.xml.length;
    if (parsed > SLICE) {
      parsed = 0;
      await nextTurn();
    }
  }
  return entries;
}

function toBalance(balance: Element, line: number) {
  const { amount, currency } = toSigned(balance, line);
  const day = textAt(balance, 'Dt', 'Dt') || textAt(balance, 'Dt', 'DtTm');
  return { code: textAt(balance, 'Tp', 'CdOrPrtry', 'Cd'), amount, currency, day: toDay(day, 'iso', line) };
}

/** Reads the amount and its currency from `Amt` of an element. @param sign `DBIT` makes the amount negative */
function toSigned(of: Element, line: number, sign = textAt(of, 'CdtDbtInd')) {
  const [amount] = all(of, 'Amt');
  const currency = toCurrency(String(amount?.['@Ccy'] ?? ''), line);
  if (!amount || !['CRDT', 'DBIT'].includes(sign))
    throw refuse('has an amount without credit or debit', line);
  const thousandths = toAmount(textOf(amount), currency, '.', line);
  return { amount: sign === 'DBIT' ? -thousandths : thousandths, currency };
}

function toEntries(entry: Element, currency: string, line: number): StatedEntry[] {
  const status = textAt(entry, 'Sts', 'Cd') || textAt(entry, 'Sts');
  if (status !== 'BOOK') return [];
  const whole = toSigned(entry, line);
  if (whole.currency !== currency) throw refuse('has an entry in another currency than the balances', line);
  const booked = textAt(entry, 'BookgDt', 'Dt') || textAt(entry, 'BookgDt', 'DtTm');
  const shared = {
    line,
    day: toDay(booked || textAt(entry, 'ValDt', 'Dt'), 'iso', line),
    reference: toLine(textAt(entry, 'AcctSvcrRef') || textAt(entry, 'NtryRef')) || null,
    is_return: textAt(entry, 'RvslInd') === 'true' || isReturn({ codes: codesOf(entry) }),
  };
  const details = all(entry, 'NtryDtls', 'TxDtls');
  const amounts = details.map((one) => amountOf(one, entry, currency, line));
  if (details.length > 1 && amounts.every((amount) => amount !== null)) {
    if (amounts.reduce((sum, amount) => sum + amount, 0) !== whole.amount) {
      throw refuse('has transactions that do not add up to their entry', line);
    }
    return details.map((one, at) => ({
      ...shared,
      amount: amounts[at] ?? 0,
      ...partyOf([one], whole.amount, shared),
    }));
  }
  const party = partyOf(details, whole.amount, shared);
  const purpose = party.purpose || toLine(textAt(entry, 'AddtlNtryInf'));
  return [{ ...shared, amount: whole.amount, ...party, purpose }];
}

/** Returns the ISO 20022 sub-family code of an entry or transaction, and the first two parts of the bank's own code. */
function codesOf(of: Element): string[] {
  const own = textAt(of, 'BkTxCd', 'Prtry', 'Cd').split('+');
  return [textAt(of, 'BkTxCd', 'Domn', 'Fmly', 'SubFmlyCd'), ...own.slice(0, 2)];
}

/** Returns a transaction's amount, or null if it has none in `currency`. Version 02 stores it in the details. */
function amountOf(one: Element, entry: Element, currency: string, line: number): number | null {
  const sign = textAt(one, 'CdtDbtInd') || textAt(entry, 'CdtDbtInd');
  const [within] = [one, ...all(one, 'AmtDtls', 'TxAmt')].filter((of) => all(of, 'Amt').length > 0);
  if (!within) return null;
  const { amount, currency: its } = toSigned(within, line, sign);
  return its === currency ? amount : null;
}

/**
 * Returns the fields that come from an entry's transactions. The purpose joins the texts of all transactions, and the
 * other fields come from the first. The other party is the debtor if money arrives, and the creditor if money leaves,
 * but the reverse for a return.
 */
function partyOf(
  details: Element[],
  amount: number,
  shared: { is_return: boolean; reference: string | null },
) {
  const [one] = details;
  const is_return =
    shared.is_return || all(one, 'RtrInf').length > 0 || (one ? isReturn({ codes: codesOf(one) }) : false);
  // The file names the parties of the original payment, even for a returned payment.
  const party = amount > 0 !== is_return ? 'Dbtr' : 'Cdtr';
  const name = textAt(one, 'RltdPties', party, 'Nm') || textAt(one, 'RltdPties', party, 'Pty', 'Nm');
  const texts = details.flatMap((detail) => [
    ...all(detail, 'RmtInf', 'Ustrd').map(textOf),
    ...all(detail, 'RmtInf', 'Strd', 'CdtrRefInf', 'Ref').map(textOf),
    ...all(detail, 'RmtInf', 'Strd', 'RfrdDocInf', 'Nb').map(textOf),
    textAt(detail, 'Refs', 'EndToEndId').replace(/^NOTPROVIDED$/i, ''),
    textAt(detail, 'RtrInf', 'Rsn', 'Cd'),
  ]);
  return {
    name: toLine(name) || null,
    iban: toIban(textAt(one, 'RltdPties', `${party}Acct`, 'Id', 'IBAN')),
    purpose: toLine(...texts),
    reference: shared.reference ?? (toLine(textAt(one, 'Refs', 'AcctSvcrRef')) || null),
    is_return,
  };
}
