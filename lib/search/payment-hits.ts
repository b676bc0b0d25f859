import { desc, eq, ilike, inArray, or, type SQL } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, invoices, payments } from '@/db/schema';
import { idAfterHash } from '../customers/match-customer';
import { customerName, snippetColumns } from '../customers/snippet';
import { toJsonAmount } from '../money';
import { literal } from '../page-query';
import { normalReference } from '../payments/normal-reference';
import { indexedPatterns } from '../search-text';
import { typedAmounts } from '../typed-amount';
import { CANDIDATES, collect, type Found } from './collect';
import type { SearchHit } from './schema';

/** By reference or Stripe's payment intent; then by amount, and by part of the reference. */
export function findPaymentHits(db: Database, typed: string): Promise<Found> {
  const text = normalReference(typed);
  const patterns = indexedPatterns(text, []);
  return collect(
    (limit) => readPayments(db, isNamed(text), limit),
    (limit) => readOfAmount(db, typedAmounts(typed), limit),
    // A part that many have is found at once among the latest; one that few have, by the index.
    (limit) => readAlike(db, latest(db), patterns, limit),
    (limit) => readAlike(db, payments, patterns, limit),
  );
}

async function readOfAmount(db: Database, amounts: string[], limit: number): Promise<SearchHit[]> {
  if (amounts.length === 0) return [];
  const some = db
    .select({ id: payments.id })
    .from(payments)
    .where(inArray(payments.amount, amounts))
    .limit(literal(CANDIDATES));
  return readPayments(db, inArray(payments.id, some), limit);
}

const LATEST = 20_000;

function latest(db: Database) {
  return db
    .select({ id: payments.id, payment_reference: payments.payment_reference })
    .from(payments)
    .orderBy(desc(payments.id))
    .limit(literal(LATEST))
    .as('latest');
}

async function readAlike(
  db: Database,
  among: typeof payments | ReturnType<typeof latest>,
  patterns: string[],
  limit: number,
): Promise<SearchHit[]> {
  if (patterns.length === 0) return [];
  const some = db
    .select({ id: among.id })
    .from(among)
    .where(or(...patterns.map((pattern) => ilike(among.payment_reference, pattern))))
    .limit(literal(CANDIDATES));
  return readPayments(db, inArray(payments.id, some), limit);
}

function isNamed(text: string): SQL | undefined {
  const id = idAfterHash(text);
  return or(
    inArray(payments.payment_reference, [...new Set([text, text.toUpperCase(), text.toLowerCase()])]),
    id === null ? undefined : eq(payments.id, id),
    text.startsWith('pi_') ? eq(payments.stripe_payment_intent_id, text) : undefined,
  );
}

async function readPayments(db: Database, where: SQL | undefined, limit: number): Promise<SearchHit[]> {
  const rows = await db
    .select({
      id: payments.id,
      reference: payments.payment_reference,
      status: payments.status,
      amount: payments.amount,
      currency: payments.currency,
      number: invoices.number,
      customer: snippetColumns,
    })
    .from(payments)
    .innerJoin(invoices, eq(invoices.id, payments.invoice_id))
    .innerJoin(customers, eq(customers.id, payments.customer_id))
    .where(where)
    .orderBy(desc(payments.payment_date), desc(payments.id))
    .limit(literal(limit));
  return rows.map(({ id, reference, status, amount, currency, number, customer }) => ({
    kind: 'payment',
    id,
    title: reference,
    detail: [customerName(customer) || customer.customer_number, number].filter(Boolean).join(' · '),
    status,
    figure: { amount: toJsonAmount(amount), currency },
  }));
}
