import { and, asc, eq, inArray, isNotNull, isNull, ne, notInArray, or, type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { type Database, lockKey, rows } from '@/db/database';
import {
  accountingEntries,
  bankEntries,
  bankRules,
  creditNotes,
  customerNotes,
  customerServices,
  customers,
  invoiceDocuments,
  invoices,
  payments,
  stripeCustomers,
  subscriptions,
  toolCalls,
  transfers,
} from '@/db/schema';
import { ChangedMeanwhileError, transact } from '@/db/transaction';
import { type Actor, recordAudit } from '../audit/audit-log';
import { idsOf } from '../customers/merged-customers';
import { describeUndocumented, type Moment, makeDocuments } from '../documents/invoice-document';
import { AppError } from '../errors';
import { listReturnableCredits } from '../invoices/receivables';
import { toAmountText } from '../money';
import { MAX_ID } from '../page';
import { literal } from '../page-query';
import { isBookedFor } from './booked-entries';
import { columnsOf, listValues, toRedactor } from './personal-data';
import { findEventsNaming, listEventIds, redactRows, reduceEvents } from './redact-rows';

/** The name of an erased customer in lists, tools and exports. */
export const ERASED_NAME = 'Erased customer';

/**
 * Returns the sentences about the consequences of erasing a customer, which users see before they confirm. They name
 * the invoices and credit notes whose legally required data of the recipient would be lost.
 *
 * @param years number of years for which documents are kept (`DOCUMENT_RETENTION_YEARS`)
 */
export const consequencesOf = async (db: Database, id: number, years: number): Promise<string[]> => [
  `The law requires you to keep invoices, with the recipient’s name and address, for years (eight in Germany). Issued documents are kept for ${years} ${years === 1 ? 'year' : 'years'} after the year of their date (DOCUMENT_RETENTION_YEARS) and then deleted. You must keep invoices without a document, such as imported totals, outside this service.`,
  ...(await describeUndocumented(db, id)),
  'Names, addresses, the e-mail address, phone numbers, the VAT ID and notes are removed permanently, including from the history and the data Stripe sent. Invoices, payments and documents stay, with numbers, amounts and dates.',
  'Anything Stripe sends about this customer later is still recorded, without personal data. Nothing is erased at Stripe, in backups, or in exported or imported files.',
];

/**
 * Removes or replaces the personal data of a customer, except in issued documents. The books keep their numbers,
 * amounts and dates. The customer's Stripe customers stay linked forever, so that later events are booked without
 * storing personal data.
 *
 * @throws AppError not_found; conflict if the customer has open records or was already erased
 */
export async function eraseCustomer(
  db: Database,
  id: number,
  { actor, now, timeZone }: Moment & { actor: Actor },
) {
  await requireErasable(db, id);
  const emails = (await listValues(db, id)).filter((value) => value.includes('@'));
  const texts = [...(await stripeCustomersOf(db, id)), ...emails];
  const since = await shortlyBefore(db);
  const naming = await findEventsNaming(db, texts);
  await makeDocuments(db, id, { now, timeZone });
  await transact(db, async (tx) => {
    const stripeCustomers = await lockCustomer(tx, id);
    const customer_number = await requireErasable(tx, id);
    const redact = toRedactor(await listValues(tx, id));
    // Find events stored after the first search. Sync cannot commit more events until the locks above are released.
    const late = await findEventsNaming(tx, texts, since);
    const events = await listEventIds(tx, id, [...naming, ...late]);
    await reduceEvents(tx, events);
    // This reads former customer numbers in the audit log, which `redactRows` may replace.
    const entries = await clearEntries(tx, id);
    await redactRows(tx, { id, stripeCustomers, events, entries }, redact);
    await clearColumns(tx, id, now);
    const entry = { actor, action: 'customer.erase', entity: 'customer', entity_id: id } as const;
    const before = { customer_number, erased_at: null };
    await recordAudit(tx, { ...entry, before, after: { ...before, erased_at: now } });
  });
}

/**
 * Returns the time ten minutes ago, as text. `created_at` is the start of a row's transaction, so a row that is
 * committed now may be dated earlier than now.
 */
async function shortlyBefore(db: Database): Promise<string> {
  const [found] = await rows<{ at: string }>(db, sql`select (now() - interval '10 minutes')::text as at`);
  return String(found?.at);
}

/**
 * Checks that a customer can be erased now.
 *
 * @returns the customer number
 * @throws AppError not_found; conflict if the customer has open records or was already erased
 */
export async function requireErasable(db: Database, id: number): Promise<string> {
  const [customer] = await db
    .select({ number: customers.customer_number, erased_at: customers.erased_at })
    .from(customers)
    .where(eq(customers.id, Math.min(id, MAX_ID)));
  if (!customer) throw new AppError('not_found', 'There is no such customer.');
  const { number, erased_at } = customer;
  if (erased_at) throw new AppError('conflict', `${number} was erased before.`);
  const blockers = await findErasureBlockers(db, id);
  if (blockers.length > 0)
    throw new AppError('conflict', `${number} cannot be erased yet: ${blockers.join('; ')}.`);
  return number;
}

/** Maximum number of open records of each kind to count. */
const MAX_OPEN = 100;

/** Maximum number of open records of each kind to name in the error message. */
const MAX_NAMED = 3;

/**
 * Returns the reasons why a customer cannot be erased yet, as parts of a sentence. Empty if the customer can be erased.
 */
async function findErasureBlockers(db: Database, id: number): Promise<string[]> {
  const [i, s, b] = [invoices, customerServices, subscriptions];
  const isUnpaid = inArray(i.status, ['sent', 'overdue']);
  const isRunning = notInArray(s.status, ['cancelled', 'terminated']);
  // A subscription that we sold but that never appeared at Stripe is not billed, so it does not prevent the erasure.
  const isAtStripe = or(isNotNull(b.stripe_subscription_id), ne(b.status, 'incomplete'));
  const isLive = and(ne(b.status, 'cancelled'), isNull(b.provider_gone_at), isAtStripe);
  const names = async (table: OwnedTable, name: PgColumn, where: SQL | undefined) => {
    const ofCustomer = and(eq(table.customer_id, id), where);
    const query = db.select({ name }).from(table).where(ofCustomer).orderBy(asc(table.id));
    return (await query.limit(literal(MAX_OPEN))).map((row) => String(row.name));
  };
  return [
    blockerText(await names(i, i.number, isUnpaid), 'invoice is unpaid', 'invoices are unpaid'),
    blockerText(await names(i, i.id, eq(i.status, 'draft')), 'invoice is a draft', 'invoices are drafts'),
    blockerText(
      await names(s, s.service_number, isRunning),
      'service has not ended',
      'services have not ended',
    ),
    blockerText(await names(b, b.id, isLive), 'subscription is live', 'subscriptions are live'),
    ...(await listReturnableCredits(db, id)).map(
      ({ amount, currency }) =>
        `a credit of ${toAmountText(String(amount), currency)} is not used or paid back`,
    ),
  ].filter((text) => text !== null);
}

type OwnedTable = PgTable & { id: PgColumn; customer_id: PgColumn };

function blockerText(names: string[], one: string, many: string): string | null {
  if (names.length === 0) return null;
  const named = names.slice(0, MAX_NAMED).join(', ');
  const others = names.length > MAX_NAMED ? ', …' : '';
  return `${names.length} ${names.length === 1 ? one : many} (${named}${others})`;
}

const linksOf = (id: number) => eq(stripeCustomers.customer_id, Math.min(id, MAX_ID));

async function stripeCustomersOf(db: Database, id: number): Promise<string[]> {
  const links = await db
    .select({ id: stripeCustomers.stripe_customer_id })
    .from(stripeCustomers)
    .where(linksOf(id))
    .orderBy(asc(stripeCustomers.stripe_customer_id));
  return links.map((link) => link.id);
}

/**
 * Locks the Stripe customers' keys, then their links, then the customer. All other transactions lock in this order too.
 */
async function lockCustomer(tx: Database, id: number): Promise<string[]> {
  const known = await stripeCustomersOf(tx, id);
  for (const key of known) await lockKey(tx, key);
  await tx.select({ id: stripeCustomers.customer_id }).from(stripeCustomers).where(linksOf(id)).for('update');
  await tx
    .select({ id: customers.id })
    .from(customers)
    .where(eq(customers.id, Math.min(id, MAX_ID)))
    .for('update');
  // All known links are locked now. If a link was added or moved before the lock, retry.
  if ((await stripeCustomersOf(tx, id)).join() !== known.join()) throw new ChangedMeanwhileError();
  return known;
}

/** @returns the ids of the customer's accounting entries */
async function clearEntries(tx: Database, id: number): Promise<number[]> {
  const cleared = await tx
    .update(accountingEntries)
    .set({ customer_name: ERASED_NAME, customer_vat_id: null })
    .where(isBookedFor(id))
    .returning({ id: accountingEntries.id });
  return cleared.map((entry) => entry.id);
}

async function clearColumns(tx: Database, id: number, now: Date): Promise<void> {
  await tx.delete(bankRules).where(eq(bankRules.customer_id, id));
  const moved = tx.select({ id: transfers.id }).from(transfers).where(eq(transfers.customer_id, id));
  await tx
    .update(bankEntries)
    .set({ name: '', iban: '', purpose: '' })
    .where(
      or(
        inArray(bankEntries.transfer_id, moved),
        inArray(bankEntries.returned_transfer_id, moved),
        inArray(
          bankEntries.returned_payment_id,
          tx.select({ id: payments.id }).from(payments).where(eq(payments.customer_id, id)),
        ),
      ),
    );
  await tx.delete(customerNotes).where(eq(customerNotes.customer_id, id));
  await tx
    .update(customerServices)
    .set({ domain: null })
    .where(and(eq(customerServices.customer_id, id), isNotNull(customerServices.domain)));
  await tx
    .update(toolCalls)
    .set({ arguments: {} })
    .where(sql`${toolCalls.customer_id} in (${idsOf(id)})`);
  const its = tx.select({ id: invoices.id }).from(invoices).where(eq(invoices.customer_id, id));
  // The law requires documents to be kept for years, with the buyer's data. If an invoice or credit note has no
  // document, delete the stored copy of its buyer's data.
  await tx
    .delete(invoiceDocuments)
    .where(and(inArray(invoiceDocuments.invoice_id, its), isNull(invoiceDocuments.made_at)));
  await tx
    .update(creditNotes)
    .set({ seller: null, buyer: null })
    .where(and(eq(creditNotes.customer_id, id), isNull(creditNotes.made_at)));
  // Events never change a link made by staff. Therefore no later event links this Stripe customer to another customer,
  // or stores its details again.
  await tx
    .update(stripeCustomers)
    .set({
      linked_by: 'staff',
      number_source: null,
      number_reported_at: null,
      number_reported_by: null,
      numbers: [],
      details: [],
      recheck_at: null,
    })
    .where(linksOf(id));
  await tx
    .update(customers)
    .set({
      ...Object.fromEntries(columnsOf('customers', 'cleared').map((column) => [column, null])),
      last_name: ERASED_NAME,
      status: 'inactive',
      erased_at: now,
    })
    .where(eq(customers.id, id));
}
