import { and, asc, eq, inArray, or, type SQL, sql } from 'drizzle-orm';
import { type Database, pickColumns } from '@/db/database';
import { bankEntries, bankRules, invoices, stripePayouts } from '@/db/schema';
import { transact } from '@/db/transaction';
import { recordAudit, toActorColumns } from '../audit/audit-log';
import { findCustomerId } from '../customers/match-customer';
import { AppError, invalidField } from '../errors';
import { currencyDecimals, toThousandths } from '../money';
import { literal } from '../page-query';
import { findPayableInvoice } from '../payments/list';
import { findTransferId, getTransfer } from '../payments/queries';
import type { PaymentWriter } from '../payments/schema';
import { MAX_SHARES } from '../payments/stripe-payment';
import { deleteTransfer, recordTransfer } from '../payments/typed-payment';
import { unmistakable } from '../read-amount';
import { type OpenInvoice, spreadAmount } from './match';
import { isPayable, problemOf, proposeFor } from './proposals';
import {
  type EntryRow,
  getEntry,
  getStatement,
  inPeriod,
  isOpen,
  listOpenEntries,
  requireOpen,
} from './queries';
import { undoReturn } from './returns';
import { MAX_ENTRIES } from './statement';

const e = bankEntries;

/** Books each entry from an IBAN with a rule if the best proposal is sure (`is_sure`) and for the rule's customer. */
export async function bookByRules(db: Database, entries: EntryRow[], writer: PaymentWriter): Promise<number> {
  const ibans = [...new Set(entries.filter(({ amount }) => amount > 0).map(({ iban }) => iban))].filter(
    Boolean,
  );
  if (ibans.length === 0) return 0;
  const rules = await db
    .select({ iban: bankRules.iban })
    .from(bankRules)
    .where(inArray(bankRules.iban, ibans));
  const ruled = new Set(rules.map(({ iban }) => iban));
  const isRuled = ({ iban }: EntryRow) => ruled.has(iban);
  const { booked } = await bookProposed(
    db,
    entries.filter(isRuled),
    writer,
    ({ is_sure, customer }, { iban }) => is_sure && customer.ruled.includes(iban),
  );
  return booked;
}

type Proposed = Awaited<ReturnType<typeof proposeFor>>[number]['proposals'][number];

/**
 * Number of entries for which proposals are read together. The proposals for the next entries then take the booked
 * payments into account.
 */
const AT_ONCE = 100;

/** The number of booked entries, and the number of accepted proposals that were left. */
interface BookedProposals {
  booked: number;
  left: number;
}

/**
 * Books the first proposal of each entry if `passes` accepts it. Leaves an entry if an earlier entry of its batch paid
 * an invoice of its proposal, or if its booking is refused, e.g. because a colleague explained the entry in the
 * meantime. Ends after `most` proposals.
 */
async function bookProposed(
  db: Database,
  entries: EntryRow[],
  writer: PaymentWriter,
  passes: (first: Proposed, entry: EntryRow) => boolean,
  most = Number.POSITIVE_INFINITY,
): Promise<BookedProposals> {
  const result = { booked: 0, left: 0 };
  for (let at = 0; at < entries.length; at += AT_ONCE) {
    const paid = new Set<number>();
    for (const { entry, proposals } of await proposeFor(db, entries.slice(at, at + AT_ONCE))) {
      const [first] = proposals;
      if (result.booked + result.left === most) return result;
      if (!first || !passes(first, entry)) continue;
      const isTaken = first.shares.some(({ invoice_id }) => paid.has(invoice_id));
      if (isTaken || !(await bookUnlessRefused(db, entry, first, writer))) {
        result.left += 1;
        continue;
      }
      for (const { invoice_id } of first.shares) paid.add(invoice_id);
      result.booked += 1;
    }
  }
  return result;
}

/** Books a proposal. Returns false if the booking is refused, so that one entry does not stop the others. */
async function bookUnlessRefused(
  db: Database,
  { id }: EntryRow,
  { customer_id: customerId, shares }: Proposed,
  writer: PaymentWriter,
): Promise<boolean> {
  try {
    // The entry may be explained, or an invoice paid, while the entries before it are booked.
    await bookEntry(db, id, { customerId, shares, remember: false }, writer);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return false;
    throw error;
  }
}

/** Maximum number of entries that one click books or leaves. Without it, the response could take minutes. */
const MAX_BOOKED_AT_ONCE = 300;

/**
 * Books the first 300 exact matches of a statement. Leaves an exact match if its booking is refused, or if another entry
 * paid its invoice.
 *
 * @throws AppError, e.g. not_found
 */
export async function bookExactMatches(
  db: Database,
  statementId: number,
  writer: PaymentWriter,
): Promise<BookedProposals> {
  const statement = await getStatement(db, statementId);
  const open = await listOpenEntries(db, statement, MAX_ENTRIES);
  return bookProposed(db, open, writer, ({ is_exact }) => is_exact, MAX_BOOKED_AT_ONCE);
}

/** A proposed share of an entry: an invoice, and an amount in thousandths. */
interface EntryShare {
  invoice_id: number;
  amount: number;
}

/**
 * Books an entry as a transfer of a customer. The amount that exceeds the shares becomes the customer's credit.
 *
 * @param remember whether to save a rule that assigns the other party's account to the customer
 * @throws AppError, e.g. conflict if the entry is already explained, or if less is due on an invoice than its share
 */
export async function bookEntry(
  db: Database,
  id: number,
  { customerId, shares, remember }: { customerId: number; shares: EntryShare[]; remember: boolean },
  writer: PaymentWriter,
): Promise<void> {
  const entry = await requireOpen(db, id);
  const ids = shares.map(({ invoice_id }) => invoice_id);
  const payable = await listPayable(db, entry, customerId, inArray(invoices.id, ids));
  const open = new Map(payable.map((one) => [one.id, one.amount]));
  if (shares.some(({ invoice_id, amount }) => amount > (open.get(invoice_id) ?? 0))) {
    throw new AppError('conflict', 'An invoice owes less than the page showed. Nothing was booked.');
  }
  await book(db, entry, customerId, shares, writer);
  if (remember) await saveRule(db, entry.iban, customerId, writer);
}

/**
 * Books an entry for the invoice or customer that staff name. Pays that invoice first, then the customer's other
 * unpaid invoices in the entry's currency, the oldest due date first. Skips Stripe's invoices.
 *
 * @param text number of an invoice or of a customer, or `#` and the id of an invoice
 * @throws AppError, e.g. validation_failed for the field `named` if the entry cannot pay the named invoice, or conflict
 *   if the entry is explained
 */
export async function bookNamedEntry(
  db: Database,
  id: number,
  { named: text, remember }: { named: string; remember: boolean },
  writer: PaymentWriter,
): Promise<void> {
  const entry = await requireOpen(db, id);
  const customer = text.startsWith('#') || text === '' ? null : await findCustomerId(db, text);
  const found = customer === null ? await findNamedInvoice(db, text, entry) : null;
  const customerId = customer ?? found?.customer.id ?? 0;
  const payable = await listPayable(db, entry, customerId);
  const isNamed = (one: { id: number }) => one.id === found?.invoice.id;
  const named = found ? [toOpen(found.invoice)] : [];
  const ordered = [...named, ...payable.filter((one) => !isNamed(one))];
  const { shares } = spreadAmount(Math.round(entry.amount * 1000), ordered);
  await book(db, entry, customerId, shares.slice(0, MAX_SHARES), writer);
  if (remember) await saveRule(db, entry.iban, customerId, writer);
}

/** Lists the invoices of a customer that an entry can pay, at most as many as a transfer can have, oldest due first. */
async function listPayable(db: Database, { currency }: EntryRow, customerId: number, where?: SQL) {
  const found = await db
    .select(pickColumns(invoices, 'id', 'number', 'amount_due'))
    .from(invoices)
    .where(and(eq(invoices.customer_id, customerId), isPayable(currency), where))
    .orderBy(asc(invoices.due_date), asc(invoices.id))
    .limit(literal(MAX_SHARES));
  return found.map(toOpen);
}

const toOpen = ({
  id,
  number,
  amount_due,
}: Omit<OpenInvoice, 'amount'> & { amount_due: string | number }) => ({
  ...{ id, number },
  amount: toThousandths(String(amount_due)),
});

async function findNamedInvoice(db: Database, text: string, entry: EntryRow) {
  const found = await findPayableInvoice(db, text).catch((error: unknown) => {
    const [field] = error instanceof AppError ? error.fields : [];
    throw field
      ? invalidField('named', `is not a known customer, and as an invoice it ${field.message}`)
      : error;
  });
  const problem = problemOf(found.invoice, entry);
  if (problem === null) return found;
  const number = found.customer.customer_number;
  throw invalidField('named', `is an invoice ${problem}: enter ${number} to book the entry for its customer`);
}

/**
 * Records an entry's transfer. The entry's id is in the reference, so two clicks cannot book the entry twice.
 *
 * @throws AppError, e.g. conflict if the entry already has a transfer of another customer, or if a colleague explains the
 *   entry in the meantime
 */
async function book(
  db: Database,
  entry: EntryRow,
  customerId: number,
  shares: EntryShare[],
  writer: PaymentWriter,
) {
  if (!(entry.amount > 0)) throw new AppError('conflict', 'Only money that arrived can be booked.');
  const toText = (amount: number) => unmistakable(amount.toFixed(currencyDecimals(entry.currency)));
  const reference = `BANK-${entry.day.replaceAll('-', '')}-${entry.id}`;
  const typed = {
    amount: toText(entry.amount),
    payment_date: entry.day,
    payment_reference: reference,
    method: 'Bank transfer',
    ...Object.fromEntries(
      shares.map(({ invoice_id, amount }) => [`share_${invoice_id}`, toText(amount / 1000)]),
    ),
  };
  // If an earlier call ended between the two writes, the transfer exists but is not linked. This call then links it.
  const left = await findTransferId(db, reference);
  if (left !== null && (await getTransfer(db, left)).customer_id !== customerId) {
    throw new AppError(
      'conflict',
      'The entry already has a transfer of another customer: book the entry for that customer, or delete the transfer.',
    );
  }
  const transfer_id = left ?? (await recordTransfer(db, customerId, entry.currency, typed, writer));
  // A second click may have linked the same transfer in the meantime.
  const linked = await db
    .update(e)
    .set({ transfer_id })
    .where(and(eq(e.id, entry.id), or(isOpen, eq(e.transfer_id, transfer_id))))
    .returning({ id: e.id });
  if (linked.length > 0) return;
  // Otherwise the money would be counted twice: by the transfer, and by the payout, the return or a colleague's decision.
  await deleteUnused(db, transfer_id, writer);
  throw new AppError('conflict', 'The entry was explained meanwhile.');
}

/** Deletes a transfer of an entry. @throws AppError conflict if money of it was paid back, refunded or returned */
async function deleteUnused(db: Database, id: number, writer: PaymentWriter): Promise<void> {
  await deleteTransfer(db, await getTransfer(db, id), writer, { onlyKept: true });
}

/**
 * Links an entry to the Stripe payout that arrived with it. Records no payment, because the payments of the payout are
 * already recorded.
 *
 * @throws AppError not_found; conflict if the entry is explained, or if the payout is no longer proposed
 */
export async function explainAsPayout(
  db: Database,
  id: number,
  payoutId: number,
  writer: PaymentWriter,
): Promise<void> {
  const [proposed] = await proposeFor(db, [await requireOpen(db, id)]);
  if (proposed?.payout?.id !== payoutId) {
    throw new AppError('conflict', 'This payout is no longer proposed for the entry.');
  }
  await movePayout(db, id, { from: null, to: payoutId }, writer);
}

/** Links an entry to a payout, or unlinks it. @throws AppError conflict if either has changed in the meantime */
async function movePayout(
  db: Database,
  id: number,
  { from, to }: { from: number | null; to: number | null },
  { actor }: PaymentWriter,
): Promise<void> {
  const isSame = from === null ? isOpen : eq(e.payout_id, from);
  const entry = { actor, action: 'bank_entry.update', entity: 'bank_entry', entity_id: id } as const;
  await transact(db, async (tx) => {
    if (to !== null) await requireUnexplained(tx, to);
    const changed = await tx
      .update(e)
      .set({ payout_id: to })
      .where(and(eq(e.id, id), isSame))
      .returning();
    if (changed.length === 0) throw new AppError('conflict', 'The entry was explained meanwhile.');
    await recordAudit(tx, { ...entry, before: { payout_id: from }, after: { payout_id: to } });
  });
}

/** Locks a payout. @throws AppError conflict if another entry is linked to this payout */
async function requireUnexplained(tx: Database, payoutId: number): Promise<void> {
  await tx
    .select({ id: stripePayouts.id })
    .from(stripePayouts)
    .where(eq(stripePayouts.id, payoutId))
    .for('update');
  const [other] = await tx.select({ id: e.id }).from(e).where(eq(e.payout_id, payoutId));
  if (other) throw new AppError('conflict', 'The payout was explained by another entry meanwhile.');
}

/**
 * Undoes the booking of an entry, so that the entry is open again. Deletes its transfer, undoes its return, or unlinks
 * its payout.
 *
 * @throws AppError not_found; conflict, for example if money of the transfer was paid back or refunded, because deleting
 *   the transfer would delete this too; precondition_failed if another write comes first
 */
export async function undoEntry(db: Database, id: number, writer: PaymentWriter): Promise<void> {
  const entry = await getEntry(db, id);
  const { transfer_id, payout_id, returned_transfer_id, returned_payment_id } = entry;
  if ((returned_transfer_id ?? returned_payment_id) !== null) return undoReturn(db, entry, writer);
  if (payout_id !== null) await movePayout(db, id, { from: payout_id, to: null }, writer);
  if (transfer_id === null) return;
  await deleteUnused(db, transfer_id, writer);
}

/**
 * Ignores an open entry, or reopens an ignored one.
 *
 * @throws AppError not_found; conflict if the entry to ignore is already explained, or if the entry is linked to a
 *   transfer, payout or return
 */
export async function setEntryState(
  db: Database,
  id: number,
  state: 'open' | 'ignored',
  writer: PaymentWriter,
): Promise<void> {
  const entry = state === 'ignored' ? await requireOpen(db, id) : await getEntry(db, id);
  if ((await explain(db, [entry.id], state, writer)).unlinked > 0) return;
  throw new AppError(
    'conflict',
    'The entry is booked, or explained as a payout or a return. Undo that first.',
  );
}

/**
 * Ignores all unexplained outgoing entries of a statement, except returns.
 *
 * @returns the number of ignored entries
 * @throws AppError not_found
 */
export async function ignoreOutgoing(
  db: Database,
  statementId: number,
  writer: PaymentWriter,
): Promise<number> {
  const statement = await getStatement(db, statementId);
  const found = await db
    .select({ id: e.id })
    .from(e)
    .where(and(...[inPeriod(statement), isOpen], sql`${e.amount} < 0 and not ${e.is_return}`));
  const ids = found.map(({ id }) => id);
  return (await explain(db, ids, 'ignored', writer)).changed;
}

type EntryState = EntryRow['state'];

/**
 * Sets the state of the entries without a transfer, payout or return.
 *
 * @returns the number of these entries, and how many of them had another state
 */
async function explain(
  db: Database,
  ids: number[],
  state: EntryState,
  { actor }: PaymentWriter,
): Promise<{ unlinked: number; changed: number }> {
  return transact(db, async (tx) => {
    const isLinked = sql`num_nonnulls(${e.transfer_id}, ${e.payout_id}, ${e.returned_transfer_id},
      ${e.returned_payment_id}) > 0`;
    const where = and(inArray(e.id, ids), sql`not ${isLinked}`);
    const before = await tx
      .select({ id: e.id, state: e.state })
      .from(e)
      .where(where)
      .orderBy(e.id)
      .for('update');
    const changed = before.filter((row) => row.state !== state);
    const counts = { unlinked: before.length, changed: changed.length };
    if (changed.length === 0) return counts;
    await tx
      .update(e)
      .set({ state })
      .where(
        inArray(
          e.id,
          changed.map(({ id }) => id),
        ),
      );
    for (const row of changed) {
      const entry = { actor, action: 'bank_entry.update', entity: 'bank_entry', entity_id: row.id } as const;
      await recordAudit(tx, { ...entry, before: { state: row.state }, after: { state } });
    }
    return counts;
  });
}

/** Saves the rule that assigns an IBAN to a customer. Replaces an earlier rule for the IBAN. */
async function saveRule(
  db: Database,
  iban: string,
  customer_id: number,
  { actor }: PaymentWriter,
): Promise<void> {
  if (iban === '') return;
  await transact(db, async (tx) => {
    const set = { customer_id, ...toActorColumns(actor) };
    const [before] = await tx
      .select(pickColumns(bankRules, 'customer_id'))
      .from(bankRules)
      .where(eq(bankRules.iban, iban))
      .for('update');
    const [row] = await tx
      .insert(bankRules)
      .values({ iban, ...set })
      .onConflictDoUpdate({ target: bankRules.iban, set })
      .returning({ id: bankRules.id });
    const entry = {
      actor,
      action: 'bank_rule.create',
      entity: 'bank_rule',
      entity_id: row?.id ?? 0,
    } as const;
    await recordAudit(tx, { ...entry, before: before ?? null, after: { customer_id } });
  });
}

/** Deletes a rule. Payments that were booked by the rule stay. */
export async function deleteRule(db: Database, id: number, { actor }: PaymentWriter): Promise<void> {
  await transact(db, async (tx) => {
    const [row] = await tx.delete(bankRules).where(eq(bankRules.id, id)).returning();
    if (!row) return;
    const entry = { actor, action: 'bank_rule.delete', entity: 'bank_rule', entity_id: id } as const;
    await recordAudit(tx, { ...entry, before: { customer_id: row.customer_id }, after: null });
  });
}
