import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { and, eq, gte, lte, ne, not, or, sql } from 'drizzle-orm';
import { type Database, lockKey, pickColumns } from '@/db/database';
import { bankEntries, bankStatements } from '@/db/schema';
import { transact } from '@/db/transaction';
import { recordAudit, toActorColumns } from '../audit/audit-log';
import { getCompany, ownIbans } from '../documents/company';
import { decodeWindows1252 } from '../imports/text-file';
import { fromThousandths, toThousandths } from '../money';
import type { PaymentWriter } from '../payments/schema';
import { bookByRules } from './book-entries';
import { isXml, readCamt } from './camt';
import { readBankCsv } from './csv';
import { isMt940, readMt940 } from './mt940';
import type { EntryRow } from './queries';
import { MAX_STATEMENT_BYTES, refuse, type Statement, sumOf, toIban, toNewRows } from './statement';

const e = bankEntries;

/** Reads a file of any known format. @throws AppError validation_failed at `file`, with the reason */
export async function readStatement(bytes: Buffer): Promise<Statement> {
  if (bytes.byteLength === 0) throw refuse('is empty');
  if (bytes.byteLength > MAX_STATEMENT_BYTES) {
    throw refuse(`must have at most ${MAX_STATEMENT_BYTES / 1e6} MB: export a shorter period`);
  }
  const text = decode(bytes);
  if (text.includes('\0')) throw refuse('is damaged: it contains NUL characters');
  if (isXml(text)) return readCamt(text);
  return isMt940(text) ? readMt940(text) : readBankCsv(text);
}

function decode(bytes: Buffer): string {
  // Erste Bank exports UTF-16 files with a byte order mark.
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  // Some German banks still use Windows-1252, and some cut a text in the middle of a UTF-8 character. Decode each line
  // separately, so that such a line does not change the letters of the other lines.
  const lines = bytes
    .toString('latin1')
    .replace(/^\u00ef\u00bb\u00bf/, '')
    .split('\n');
  return lines.map(decodeLine).join('\n');
}

/** Decodes a line in which each character stands for one byte. */
function decodeLine(line: string): string {
  const bytes = Buffer.from(line, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : decodeWindows1252(bytes);
}

/**
 * Outcome of an upload: the statement, whether the file was already known, and the number of entries that rules booked.
 */
interface UploadResult {
  id: number;
  isKnown: boolean;
  booked: number;
}

/**
 * Adds a bank statement of one of our accounts. Skips entries that an earlier file contained, so the same file or an
 * overlapping period can be uploaded again. Rules then book new credits that exactly pay the invoices they name, or all
 * open invoices of their customer.
 *
 * @param file.account IBAN of our account; required if the file contains none and we have several accounts
 * @throws AppError validation_failed at `file`, with the reason
 */
export async function uploadStatement(
  db: Database,
  file: { name: string; bytes: Buffer; account?: string | undefined },
  writer: PaymentWriter,
): Promise<UploadResult> {
  const read = await readStatement(file.bytes);
  const account = await requireOwnAccount(db, read.iban, toIban(file.account));
  const file_sha256 = createHash('sha256').update(file.bytes).digest('hex');
  const added = await transact(db, async (tx) => {
    await lockKey(tx, `bank account ${account}`);
    const isSame = and(eq(bankStatements.account, account), eq(bankStatements.file_sha256, file_sha256));
    const [same] = await tx.select({ id: bankStatements.id }).from(bankStatements).where(isSame);
    if (same) return { id: same.id, isKnown: true, entries: [] };
    return {
      ...(await insert(tx, { ...read, account, file_sha256, file_name: file.name }, writer)),
      isKnown: false,
    };
  });
  const booked = await bookByRules(db, added.entries, writer);
  return { id: added.id, isKnown: added.isKnown, booked };
}

/**
 * Returns the IBAN of the statement's account.
 *
 * @throws AppError validation_failed if it is unknown, not the company's or not the chosen one
 */
async function requireOwnAccount(db: Database, named: string | null, chosen: string | null): Promise<string> {
  const own = ownIbans(await getCompany(db));
  const [first, another] = own;
  if (!first) throw refuse('cannot be assigned: enter the IBAN of your account under Company first');
  const account = named ?? chosen ?? (another === undefined ? first : null);
  if (account === null) throw refuse('does not name its account: choose the account above');
  if (named !== null && chosen !== null && named !== chosen)
    throw refuse(`is of the account ${named}, but you chose ${chosen}`);
  if (!own.includes(account))
    throw refuse(
      `is of the account ${account}, which is not an account of the company: enter it under Company first`,
    );
  return account;
}

type NewStatement = Statement & { account: string; file_sha256: string; file_name: string };

async function insert(tx: Database, stated: NewStatement, { actor }: PaymentWriter) {
  const { account, currency, from, to, opening, closing, entries } = stated;
  const toText = (thousandths: number | null) => (thousandths === null ? null : fromThousandths(thousandths));
  const after = { account, first_day: from, last_day: to, file_sha256: stated.file_sha256 };
  const [made] = await tx
    .insert(bankStatements)
    .values({
      ...after,
      currency,
      opening: toText(opening),
      closing: toText(closing),
      booked: fromThousandths(sumOf(entries)),
      entry_count: entries.length,
      file_name: stated.file_name.slice(0, 200).toWellFormed() || 'statement',
      ...toActorColumns(actor),
    })
    .returning({ id: bankStatements.id });
  if (!made) throw new Error('an inserted statement was not returned');
  const { id } = made;
  await recordAudit(tx, {
    actor,
    action: 'bank_statement.create',
    entity: 'bank_statement',
    entity_id: id,
    before: null,
    after: { ...after, entries: entries.length },
  });
  const added = await readNewRows(tx, stated, id);
  const found: EntryRow[] = [];
  for (let at = 0; at < added.length; at += 500) {
    const values = added.slice(at, at + 500).map((one) => ({ ...one, statement_id: id, account, currency }));
    const rows = await tx.insert(e).values(values).returning();
    found.push(...rows.map((one) => ({ ...one, amount: Number(one.amount) })));
  }
  return { id, entries: found };
}

/** Returns the rows of the entries that no earlier file contained. @param id the id of the statement itself */
async function readNewRows(tx: Database, stated: NewStatement, id: number) {
  const { account, currency, from, to, entries } = stated;
  const days = entries
    .map(({ day }) => day)
    .concat(from, to)
    .sort();
  const found = await tx
    .select({
      ...{ statement_id: e.statement_id, day: e.day, amount: e.amount },
      ...{ purpose: e.purpose, iban: e.iban, reference: e.bank_reference },
    })
    .from(e)
    .where(
      and(
        eq(e.account, account),
        eq(e.currency, currency),
        gte(e.day, days[0] ?? from),
        lte(e.day, days.at(-1) ?? to),
      ),
    );
  const known = found.map((row) => ({ ...row, amount: toThousandths(row.amount) }));
  const others = await findOtherParts(tx, stated, id);
  // If the entries of the other statement add up to zero, its balance may be the same before and after them. Then it
  // may be the statement of a longer period, with the same entries. If those of this file add up to zero, the file may
  // contain all entries of the other one, perhaps in another format with other purposes. If the other one is earlier,
  // the purposes must be equal, because this file may also follow it. A statement is rarely uploaded after a later one.
  // The stored parts of a day may lead back to the balance of its start. Then this file is more likely the whole day than
  // one more part with the same amounts.
  const apart = others.filter((part) => {
    const its = known.filter(({ statement_id, day }) => statement_id === part.id && day === part.day);
    const own = entries.filter(({ day }) => day === part.day);
    const isContained = its.every((one) =>
      own.some(
        ({ amount, purpose }) =>
          amount === one.amount && (part.isLater || [purpose, ''].includes(one.purpose)),
      ),
    );
    return sumOf(its) !== 0 && !(sumOf(own) === 0 && isContained);
  });
  const rows = known.map(({ statement_id, ...row }) => {
    const isOfOtherPart = apart.some((part) => part.id === statement_id && part.day === row.day);
    return { ...row, isOfOtherPart };
  });
  return toNewRows(entries, rows, currency, (day) => !others.some((part) => part.day === day));
}

/**
 * Finds the statements that contain another part of the first or the last day of a statement. Some banks issue several
 * statements of a day. Each begins with the closing balance of the one before, and they have different entries, even if
 * their sums are equal.
 *
 * @returns the ids of the statements, each with the day that it shares, and whether it is the later part. Empty if the
 *   balances are unknown.
 */
async function findOtherParts(tx: Database, stated: NewStatement, id: number) {
  const { account, currency, from, to, opening, closing } = stated;
  if (opening === null || closing === null) return [];
  const s = bankStatements;
  const [before, after] = [fromThousandths(opening), fromThousandths(closing)];
  // An entry of the other statement may be stored with an earlier statement that also contains it.
  const mayHaveEntry = (day: string) => sql`(
    exists (select from ${e} where ${e.statement_id} = ${s.id} and ${e.day} = ${day}::date)
    or ${s.entry_count} > (select count(*) from ${e} where ${e.statement_id} = ${s.id}))`;
  const isNested = sql`(${s.first_day} - ${from}::date) * (${s.last_day} - ${to}::date) <= 0`;
  const found = await tx
    .select(pickColumns(s, 'id', 'first_day', 'last_day', 'opening', 'closing'))
    .from(s)
    .where(
      and(
        ...[eq(s.account, account), eq(s.currency, currency), ne(s.id, id)],
        or(and(eq(s.last_day, from), mayHaveEntry(from)), and(eq(s.first_day, to), mayHaveEntry(to))),
        // Another file with the same balances is the same statement, even if the balance did not change. One of the two
        // may begin or end on another day without entries, for example at midnight.
        or(ne(s.opening, before), ne(s.closing, after), not(isNested)),
      ),
    );
  const parts = found.flatMap((one) =>
    one.opening === null || one.closing === null
      ? []
      : { ...one, opening: toThousandths(one.opening), closing: toThousandths(one.closing) },
  );
  const earlier = parts
    .filter(({ last_day }) => last_day === from)
    .map((one) => ({ id: one.id, near: one.closing, far: one.first_day === from ? one.opening : null }));
  const later = parts
    .filter(({ first_day }) => first_day === to)
    .map((one) => ({ id: one.id, near: one.opening, far: one.last_day === to ? one.closing : null }));
  const idsOfLater = followBalances(later, closing);
  // The parts of a day that leaves the balance unchanged lead from the balance back to it, so they are in both lists.
  const idsOfEarlier = followBalances(earlier, opening).filter((other) => !idsOfLater.includes(other));
  return [
    ...idsOfEarlier.map((other) => ({ id: other, day: from, isLater: false })),
    ...idsOfLater.map((other) => ({ id: other, day: to, isLater: true })),
  ];
}

/**
 * Returns the ids of the statements that adjoin a balance, or adjoin each other and so lead to it.
 *
 * @param parts statements with their balance on the nearer and on the farther side. The latter is null if the statement
 *   goes on to another day.
 */
function followBalances(
  parts: { id: number; near: number; far: number | null }[],
  balance: number,
): number[] {
  const reached = [balance];
  const ids = new Set<number>();
  // This loop also visits the balances that it adds.
  for (const at of reached) {
    for (const { id, near, far } of parts) {
      if (near !== at || ids.has(id)) continue;
      ids.add(id);
      if (far !== null) reached.push(far);
    }
  }
  return [...ids];
}
