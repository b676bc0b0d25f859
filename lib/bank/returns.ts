import { and, desc, eq, gt, inArray, isNull, lte, ne, or, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import {
  type Database,
  inJoinedTexts,
  inTexts,
  pgErrorCode,
  pickColumns,
  UNIQUE_VIOLATION,
} from '@/db/database';
import { bankEntries, customers, invoices, payments, transfers } from '@/db/schema';
import { transact } from '@/db/transaction';
import { recordAudit } from '../audit/audit-log';
import { findCustomers } from '../customers/find-customers';
import { snippetColumns, toCustomerSnippet } from '../customers/queries';
import { customerQuery } from '../customers/schema';
import { AppError } from '../errors';
import { toJsonAmounts, toThousandths } from '../money';
import { literal } from '../page-query';
import { getTransfer } from '../payments/queries';
import type { PaymentWriter } from '../payments/schema';
import {
  returnPayment,
  returnTransfer,
  undoPaymentReturn,
  undoTransferReturn,
} from '../payments/typed-payment';
import { isNumberIn, MIN_NAME, nameShare, numbersIn, windowsOf } from './match';
import { listKnownOwners, listRuleOwners } from './proposals';
import { type EntryRow, isOpen, requireOpen } from './queries';

const e = bankEntries;

/** A transfer, or a payment without a transfer, that an entry may return. */
export interface ReturnProposal {
  kind: 'transfer' | 'payment';
  id: number;
  reference: string;
  payment_date: string;
  amount: number;
  customer: ReturnType<typeof toCustomerSnippet>;
  /** Numbers of the invoices that become unpaid again. */
  invoice_numbers: string[];
  /** Sentences that explain the proposal, the strongest reason first. */
  reasons: string[];
}

/** A return is expected less than this number of days after the payment. */
const RETURN_DAYS = 400;
/** Largest fee that a bank adds to the returned amount, in major units. */
const MAX_FEE = 15;
const MAX_FOUND = 200;
const MAX_PROPOSALS = 3;

/**
 * Proposes the transfers and payments that an entry may return, the best proposal first. Skips transfers and payments
 * that already have a refund. If the entry is larger than the payment, the difference may be the bank's fee.
 */
export async function proposeReturns(db: Database, entry: EntryRow): Promise<ReturnProposal[]> {
  if (!entry.is_return || !(entry.amount < 0)) return [];
  const found = await findReturnable(db, entry);
  const texts = windowsOf(`${entry.purpose} ${entry.name}`);
  return found
    .flatMap((one) => toProposal(entry, texts, one) ?? [])
    .sort((a, b) => b.score - a.score || b.proposal.payment_date.localeCompare(a.proposal.payment_date))
    .slice(0, MAX_PROPOSALS)
    .map(({ proposal }) => proposal);
}

type Returnable = Awaited<ReturnType<typeof findReturnable>>[number];

function toProposal(
  entry: EntryRow,
  texts: string[],
  { original, isKnown, ...one }: Returnable,
): { score: number; proposal: ReturnProposal } | null {
  const named = [...new Set(one.invoice_numbers)].filter((number) => isNumberIn(number, texts));
  const reasons: [score: number, text: string][] = [];
  if (isNumberIn(one.reference, texts)) reasons.push([60, `The text names the reference ${one.reference}.`]);
  if (named.length > 0) reasons.push([50, `The text names ${named.join(', ')}.`]);
  const isSame = original && original.iban !== '' && original.iban === entry.iban;
  if (isSame) reasons.push([40, 'The money came from this account.']);
  else if (isKnown) reasons.push([35, 'The customer has paid from this account before.']);
  const booked = original ? windowsOf(original.purpose).filter((text) => text.length >= 6) : [];
  if (named.length === 0 && booked.some((text) => texts.includes(text))) {
    reasons.push([45, 'The text equals that of the booked entry.']);
  }
  const share = nameShare(one.customer.name, entry.name);
  if (share >= MIN_NAME) reasons.push([Math.round(25 * share), 'The name is similar.']);
  const fee = toThousandths(String(-entry.amount)) - toThousandths(String(one.amount));
  const score = reasons.reduce((sum, [points]) => sum + points, 0);
  if (score === 0 || (fee > 0 && score < 50)) return null;
  reasons.push([0, fee === 0 ? 'The amount is the same.' : 'The bank took more, which may include its fee.']);
  const proposal = { ...one, reasons: reasons.sort(([a], [b]) => b - a).map(([, text]) => text) };
  return { score: fee === 0 ? score + 10 : score, proposal };
}

/**
 * Finds the transfers and payments that the entry may return. Day and amount must fit, see `fits`. In addition, a
 * transfer or payment must belong to a customer whom the entry suggests, or the entry must contain its reference. A
 * transfer also matches if `fits` holds for the bank entry that it was booked from.
 */
async function findReturnable(db: Database, entry: EntryRow) {
  const texts = numbersIn(`${entry.purpose} ${entry.name}`);
  const written = (entry.purpose.match(/\S+/g) ?? []).map((text) => text.replace(/^(EREF|KREF|SVWZ)\+/i, ''));
  const references = [...new Set([...texts, ...written])];
  const ibans = entry.iban === '' ? [] : [entry.iban];
  const known = [...(await listRuleOwners(db, ibans)), ...(await listKnownOwners(db, ibans))].map(
    ({ id }) => id,
  );
  const owners = await db
    .select({ id: invoices.customer_id })
    .from(invoices)
    .where(inTexts(invoices.number, texts))
    .limit(literal(MAX_FOUND));
  const query = customerQuery.safeParse(entry.name);
  const named = query.success ? (await findCustomers(db, query.data)).matches : [];
  const ids = [...new Set([...known, ...[...owners, ...named].map(({ id }) => id)])];
  const isOfCustomer = ({ customer }: { customer: { id: number } }) => known.includes(customer.id);
  const found = [
    ...(await readTransfers(db, entry, inArray(transfers.customer_id, ids))),
    ...(await readTransfers(db, entry, inTexts(transfers.reference, references))),
    ...(await readTransfers(db, entry, fits(e, entry))),
    ...(await readPayments(db, entry, inArray(payments.customer_id, ids))),
    ...(await readPayments(db, entry, inJoinedTexts(payments.payment_reference, references))),
  ];
  const byKey = new Map(found.map((one) => [`${one.kind} ${one.id}`, one]));
  return [...byKey.values()].map((one) => ({ ...one, isKnown: isOfCustomer(one) }));
}

/** The condition that a day is less than `RETURN_DAYS` before the entry, and an amount smaller by at most `MAX_FEE`. */
const fits = ({ day, amount }: { day: PgColumn; amount: PgColumn }, entry: EntryRow): SQL | undefined => {
  const [least, most] = [-entry.amount - MAX_FEE, -entry.amount].map((one) => sql`${String(one)}::numeric`);
  return and(
    ...[lte(day, entry.day), gt(day, sql`${entry.day}::date - ${literal(RETURN_DAYS)}`)],
    sql`${amount} between ${least} and ${most}`,
  );
};

const toRow = <Row extends { amount: string; customer: SnippetRecord }>(row: Row) => ({
  ...toJsonAmounts(row, 'amount'),
  customer: toCustomerSnippet(row.customer),
});
type SnippetRecord = Parameters<typeof toCustomerSnippet>[0];

/** Reads transfers without refunds that fit the entry. Skips those booked from an entry of another bank account. */
async function readTransfers(db: Database, entry: EntryRow, where: SQL | undefined) {
  const its = sql`from ${payments} where ${payments.transfer} = ${transfers.reference}`;
  const found = await db
    .select({
      ...pickColumns(transfers, 'id', 'reference', 'payment_date', 'amount'),
      customer: snippetColumns,
      original: pickColumns(e, 'iban', 'purpose'),
      invoice_numbers: sql<string[]>`array(select i.number from ${invoices} i
        where i.id in (select ${payments.invoice_id} ${its}) and i.number is not null order by i.id)`,
    })
    .from(transfers)
    .innerJoin(customers, eq(customers.id, transfers.customer_id))
    .leftJoin(e, eq(e.transfer_id, transfers.id))
    .where(
      and(
        ...[where, eq(transfers.currency, entry.currency)],
        fits({ day: transfers.payment_date, amount: transfers.amount }, entry),
        or(isNull(e.id), and(eq(e.account, entry.account), eq(e.currency, entry.currency))),
        sql`${transfers.paid_back} = '[]' and not exists (select ${its} and ${payments.refunded_amount} > 0)`,
      ),
    )
    .orderBy(desc(transfers.payment_date), desc(transfers.id))
    .limit(literal(MAX_FOUND));
  return found.map((row) => ({ ...toRow(row), kind: 'transfer' as const }));
}

/** Reads payments without refunds that belong to no transfer. Skips Stripe's payments, whose returns Stripe reports. */
async function readPayments(db: Database, entry: EntryRow, where: SQL | undefined) {
  const found = await db
    .select({
      ...pickColumns(payments, 'id', 'payment_date', 'amount'),
      reference: payments.payment_reference,
      customer: snippetColumns,
      number: invoices.number,
    })
    .from(payments)
    .innerJoin(invoices, eq(invoices.id, payments.invoice_id))
    .innerJoin(customers, eq(customers.id, payments.customer_id))
    .where(
      and(
        ...[where, eq(payments.currency, entry.currency), isNull(payments.transfer)],
        fits({ day: payments.payment_date, amount: payments.amount }, entry),
        ...[eq(payments.status, 'completed'), eq(payments.refunded_amount, '0')],
        ne(payments.source, 'stripe'),
      ),
    )
    .orderBy(desc(payments.payment_date), desc(payments.id))
    .limit(literal(MAX_FOUND));
  return found.map(({ number, ...row }) => ({
    ...{ ...toRow(row), kind: 'payment' as const, original: null },
    invoice_numbers: number === null ? [] : [number],
  }));
}

/**
 * Books a return. Marks the proposed transfer or payment as refunded on the entry's day, so that its invoices become
 * due again.
 *
 * @throws AppError, e.g. conflict if the entry is already explained, or if this return is no longer proposed for it
 */
export async function bookReturn(
  db: Database,
  id: number,
  chosen: Pick<ReturnProposal, 'kind' | 'id'>,
  writer: PaymentWriter,
): Promise<void> {
  const entry = await requireOpen(db, id);
  const isChosen = (one: ReturnProposal) => one.kind === chosen.kind && one.id === chosen.id;
  if (!(await proposeReturns(db, entry)).some(isChosen)) {
    throw new AppError('conflict', 'This payment is no longer proposed for the entry.');
  }
  // Link the entry first, so that no other person can book it. If the process ends before the refund, `undoReturn`
  // opens the entry again.
  const link = toLink(chosen);
  await moveReturn(db, id, { from: NO_LINK, to: link }, writer);
  try {
    if (chosen.kind === 'transfer') {
      await returnTransfer(db, await getTransfer(db, chosen.id), entry.day, writer);
    } else {
      await returnPayment(db, chosen.id, entry.day, writer);
    }
  } catch (error) {
    await moveReturn(db, id, { from: link, to: NO_LINK }, writer);
    throw error;
  }
}

/** Undoes a booked return, so that its invoices are paid again. @throws AppError, e.g. not_found or conflict */
export async function undoReturn(db: Database, entry: EntryRow, writer: PaymentWriter): Promise<void> {
  const { returned_transfer_id, returned_payment_id } = entry;
  if (returned_transfer_id !== null) {
    await undoTransferReturn(db, await getTransfer(db, returned_transfer_id), writer);
  }
  if (returned_payment_id !== null) await undoPaymentReturn(db, returned_payment_id, writer);
  const link = { returned_transfer_id, returned_payment_id };
  await moveReturn(db, entry.id, { from: link, to: NO_LINK }, writer);
}

type Link = Pick<EntryRow, 'returned_transfer_id' | 'returned_payment_id'>;

const NO_LINK: Link = { returned_transfer_id: null, returned_payment_id: null };

const toLink = ({ kind, id }: Pick<ReturnProposal, 'kind' | 'id'>): Link => ({
  returned_transfer_id: kind === 'transfer' ? id : null,
  returned_payment_id: kind === 'payment' ? id : null,
});

/** Links an entry to the transfer or payment that it returned, or removes the link. @throws AppError conflict */
async function moveReturn(
  db: Database,
  id: number,
  { from, to }: { from: Link; to: Link },
  { actor }: PaymentWriter,
): Promise<void> {
  const isSame = or(
    eq(e.returned_transfer_id, from.returned_transfer_id ?? 0),
    eq(e.returned_payment_id, from.returned_payment_id ?? 0),
  );
  const audit = { actor, action: 'bank_entry.update', entity: 'bank_entry', entity_id: id } as const;
  await transact(db, async (tx) => {
    const changed = await tx
      .update(e)
      .set(to)
      .where(and(eq(e.id, id), from === NO_LINK ? isOpen : isSame))
      .returning();
    if (changed.length === 0) throw new AppError('conflict', 'The entry was explained meanwhile.');
    await recordAudit(tx, { ...audit, before: from, after: to });
  }).catch((error: unknown) => {
    if (pgErrorCode(error) !== UNIQUE_VIOLATION) throw error;
    throw new AppError('conflict', 'The payment was returned by another entry meanwhile.');
  });
}
