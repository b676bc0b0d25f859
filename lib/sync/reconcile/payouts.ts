import { and, asc, desc, eq, gt, inArray, isNull, lte, notExists, or, type SQL, sql } from 'drizzle-orm';
import Stripe from 'stripe';
import { type Database, rows } from '@/db/database';
import {
  reconciliationFailures as failures,
  type PayoutSums,
  reconciliationRuns as runs,
  stripePayoutEntries,
  stripePayouts,
} from '@/db/schema';
import { transact } from '@/db/transaction';
import { addDays, toCalendarDate } from '../../dates';
import { fromThousandths, toAmountText, toThousandths } from '../../money';
import { literal } from '../../page-query';
import { fetchInvoicePaid, isCursorGone } from '../../stripe/fetch';
import {
  listProviderPayoutEntries,
  listProviderPayouts,
  type ProviderPayoutEntry,
} from '../../stripe/payouts';
import { replaceTasks } from '../../tasks/staff-tasks';
import type { SyncDeps } from '../sync-deps';
import { NotReportedError } from '../synchronize';
import {
  CHARGES,
  comparePayout,
  DEBIT_FAILURE,
  isCharge,
  isRefund,
  type PayoutEntry,
} from './compare-payout';
import {
  failureCode,
  guarded,
  nextAfter,
  recordFailure,
  resolveFailures,
  STEP_PAGE,
  type StepPage,
  type StripeDeps,
} from './object';
import { beat, type Run } from './run';

const p = stripePayouts;
const DAY_MS = 86_400_000;
/**
 * Number of days before the last run that read all payouts for which payouts are listed again. A bank can refuse a
 * payout days after Stripe paid it.
 */
const REVISED_DAYS = 35;
/** Number of past days for which payouts are listed if no run has read them all yet. */
const FIRST_DAYS = 90;

/** Stores the payouts that Stripe lists, with their status. */
export const listPayouts: StepPage<StripeDeps> = (deps, run, after) =>
  permitted(deps, run, 'payouts', async () => {
    const { payouts, next } = await listProviderPayouts(deps.stripe, {
      createdFrom: await payoutsFrom(deps),
      after: after || null,
    });
    run.counts.objects_checked += payouts.length;
    for (const payout of payouts) {
      const { amount, currency, status, failureCode: failure_code, isListed: is_listed } = payout;
      const state = { amount, currency, status, failure_code, is_listed, arrival_date: payout.arrivalDate };
      await deps.db
        .insert(p)
        .values({
          ...state,
          stripe_payout_id: payout.id,
          is_automatic: payout.isAutomatic,
          issued_at: payout.issuedAt,
        })
        .onConflictDoUpdate({ target: p.stripe_payout_id, set: state });
    }
    return next;
  });

/**
 * Returns the time from which payouts are listed. It depends only on earlier runs, because the stored payouts may be
 * the first page of an unfinished list, which starts with the newest payouts.
 */
async function payoutsFrom({ db, now }: SyncDeps): Promise<Date> {
  const denied = db
    .select({ id: failures.id })
    .from(failures)
    .where(
      and(eq(failures.run_id, runs.id), eq(failures.object, 'payout'), eq(failures.stripe_id, 'payouts')),
    );
  // `lists_completed` alone is not enough, because it does not say anything about the list of payouts.
  const hasReadAll = and(
    eq(runs.lists_completed, true),
    eq(runs.stripe_skipped, false),
    lte(runs.started_at, now()),
    inArray(runs.status, ['completed', 'completed_with_errors']),
    notExists(denied),
  );
  const [last] = await db
    .select({ at: runs.started_at })
    .from(runs)
    .where(hasReadAll)
    .orderBy(desc(runs.started_at))
    .limit(literal(1));
  return last
    ? new Date(last.at.getTime() - REVISED_DAYS * DAY_MS)
    : new Date(now().getTime() - FIRST_DAYS * DAY_MS);
}

/**
 * Performs one page of a list. If Stripe refuses the list to the API key, stores a failure with the list's name, and
 * the run continues with its other steps. Returns an empty cursor if the list must start again.
 */
async function permitted(
  deps: StripeDeps,
  run: Run,
  list: 'payouts' | 'balance_transactions',
  work: () => Promise<string | null>,
): Promise<string | null> {
  try {
    const next = await work();
    if (next === null) await resolveFailures(deps, 'payout', sql`stripe_id = ${list}`);
    return next;
  } catch (error) {
    if (isCursorGone(error)) return '';
    if (!isDenied(error)) throw error;
    await recordFailure(deps, run, 'payout', list, failureCode(error));
    return null;
  }
}

/** Returns whether Stripe refused a list to the API key. */
const isDenied = (error: unknown) =>
  error instanceof Stripe.errors.StripePermissionError ||
  error instanceof Stripe.errors.StripeAuthenticationError;

/** Reads the balance transactions of the next payout whose transactions are not stored yet. */
export const readPayoutEntries: StepPage<StripeDeps> = (deps, run, after) =>
  permitted(deps, run, 'balance_transactions', async () => {
    const [payout] = await deps.db
      .select({ id: p.id, stripeId: p.stripe_payout_id })
      .from(p)
      .where(and(gt(p.id, Number(after ?? 0)), isNull(p.sums), p.is_listed))
      .orderBy(asc(p.id))
      .limit(literal(1));
    if (!payout) {
      // Resolve the failures of all stored payouts here, because a process may have died after it stored the entries.
      // Nothing else would resolve such a failure, because the payout is not read again.
      await resolveFailures(
        deps,
        'payout',
        sql`stripe_id in (select ${p.stripe_payout_id} from ${p} where ${p.sums} is not null)`,
      );
      return null;
    }
    const { id, stripeId } = payout;
    let denied: unknown;
    await guarded(deps, run, 'payout', stripeId, async () => {
      try {
        const entries = await readAll(deps, run, stripeId);
        await storeEntries(deps.db, id, entries, await findInvoices(deps, run, entries));
      } catch (error) {
        if (!isDenied(error)) throw error;
        denied = error;
      }
    });
    // Report a denied list as a single failure, and not as one for each payout.
    if (denied) throw denied;
    return String(id);
  });

/** Maximum number of pages to read of one payout's transactions. A page contains 100. */
const MAX_PAGES = 100;

async function readAll(deps: StripeDeps, run: Run, payout: string) {
  const entries: ProviderPayoutEntry[] = [];
  let after: string | null = null;
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const answer = await listProviderPayoutEntries(deps.stripe, payout, after);
    entries.push(...answer.entries);
    after = answer.next;
    if (after === null) return entries;
    await beat(deps.db, run, deps.now());
  }
  throw new NotReportedError(`the transactions of ${payout} in ${MAX_PAGES} pages`, 'too_many');
}

/**
 * Finds the invoices of charges. Looks up the payments that sync recorded for the charge or its payment intent. Asks
 * Stripe about other charges, because an invoice can have several, and our payment contains the ids of only one.
 * Does not use payments that staff or API clients recorded, because their invoice may be wrong. The entries keep the
 * invoice ids, because staff may delete the payment later.
 *
 * @returns Stripe's ids of the invoices, keyed by charge; null for a charge without a Stripe invoice
 */
async function findInvoices(deps: StripeDeps, run: Run, entries: ProviderPayoutEntry[]) {
  const charges = entries.filter(isCharge);
  const known = await rows<{ charge: string; invoice: string | null }>(
    deps.db,
    sql`select charge, i.stripe_invoice_id as invoice
      from unnest(${sql.param(charges.map(({ paymentIntentId }) => paymentIntentId ?? ''))}::text[],
        ${sql.param(charges.map(({ sourceId }) => sourceId ?? ''))}::text[]) as c(intent, charge)
      join lateral (
        select invoice_id from payments where source = 'stripe' and stripe_payment_intent_id = intent
        union all select invoice_id from payments where source = 'stripe' and stripe_charge_id = charge
      ) y on true
      join invoices i on i.id = y.invoice_id`,
  );
  const found = new Map(known.map(({ charge, invoice }) => [charge, invoice]));
  for (const { sourceId: charge, paymentIntentId: intent } of charges) {
    if (charge === null || intent === null || found.has(charge)) continue;
    const answer = await fetchInvoicePaid(deps.stripe, deps.now, intent);
    if (answer.state === 'unavailable') throw new NotReportedError(`the invoice of ${intent}`, answer.reason);
    found.set(charge, answer.state === 'found' ? answer.object : null);
    await beat(deps.db, run, deps.now());
  }
  return found;
}

const ROWS_AT_ONCE = 500;

async function storeEntries(
  db: Database,
  payout_id: number,
  entries: ProviderPayoutEntry[],
  invoices: Map<string, string | null>,
): Promise<void> {
  await transact(db, async (tx) => {
    await tx.delete(stripePayoutEntries).where(eq(stripePayoutEntries.payout_id, payout_id));
    for (let at = 0; at < entries.length; at += ROWS_AT_ONCE) {
      await tx.insert(stripePayoutEntries).values(
        entries.slice(at, at + ROWS_AT_ONCE).map(({ id, type, amount, fee, net, currency, ...ids }) => ({
          ...{ payout_id, stripe_transaction_id: id, type, amount, fee, net, currency },
          source_id: ids.sourceId,
          stripe_payment_intent_id: ids.paymentIntentId,
          stripe_invoice_id: invoices.get(ids.sourceId ?? '') ?? null,
        })),
      );
    }
    await tx
      .update(p)
      .set({ sums: sumUp(entries) })
      .where(eq(p.id, payout_id));
  });
}

function sumUp(entries: ProviderPayoutEntry[]): PayoutSums {
  const charges = entries.filter(isCharge);
  const refunds = entries.filter(isRefund);
  const others = entries.filter((one) => !isCharge(one) && !isRefund(one));
  const total = (of: ProviderPayoutEntry[], field: 'amount' | 'fee' | 'net') =>
    fromThousandths(of.reduce((sum, one) => sum + toThousandths(one[field]), 0));
  return {
    charges: total(charges, 'amount'),
    charge_count: charges.length,
    refunds: total(refunds, 'amount'),
    refund_count: refunds.length,
    others: total(others, 'amount'),
    other_count: others.length,
    fees: total(entries, 'fee'),
    net: total(entries, 'net'),
  };
}

/** Days after arrival during which each run compares a payout. A payout that differs is compared until it matches. */
const COMPARED_DAYS = 60;

/**
 * Compares payouts with our records and the bank statements. Each kind of difference in a payout becomes a staff task.
 */
export const comparePayouts: StepPage<SyncDeps> = async (deps, _run, after) => {
  const since = addDays(toCalendarDate(deps.now(), deps.timeZone), -COMPARED_DAYS);
  const found = await deps.db
    .select()
    .from(p)
    .where(
      and(
        gt(p.id, Number(after ?? 0)),
        or(sql`${p.differences} <> '[]'`, sql`${p.arrival_date} >= ${since}::date`),
      ),
    )
    .orderBy(asc(p.id))
    .limit(literal(STEP_PAGE));
  for (const payout of found) await compareOne(deps.db, payout);
  return nextAfter(found);
};

type PayoutRow = typeof p.$inferSelect;

async function compareOne(db: Database, payout: PayoutRow): Promise<void> {
  const { id, stripe_payout_id, amount, currency, status, failure_code, sums } = payout;
  const differences = comparePayout({
    ...{ amount, currency, status, failureCode: failure_code, ...(await readBank(db, payout)) },
    entries: sums === null ? null : await readEntries(db, id),
  });
  const about = `The payout ${stripe_payout_id} of ${toAmountText(amount, currency)}`;
  const tasks = differences.map(({ kind, text }) => ({
    subject: `${stripe_payout_id} ${kind}`,
    message: `${about} ${text}.`,
  }));
  const kinds = differences.map(({ kind }) => kind);
  await transact(db, async (tx) => {
    await replaceTasks(tx, { kind: 'payout_differs', entity: 'payout', entity_id: id }, tasks);
    const isSame = JSON.stringify(kinds) === JSON.stringify(payout.differences);
    if (!isSame) await tx.update(p).set({ differences: kinds }).where(eq(p.id, id));
  });
}

type StoredEntry = Omit<PayoutEntry, 'record'> & {
  record_id: number | null;
  record_amount: string;
  record_currency: string;
  elsewhere: string;
  isSum: boolean;
};

/** SQL condition for a payment `y` that records the charge of a payout entry `e`. */
const IS_PAYMENT = sql`(y.stripe_payment_intent_id = e.stripe_payment_intent_id
  or y.stripe_charge_id = e.source_id
  or y.payment_reference in (e.stripe_payment_intent_id, e.source_id, e.stripe_invoice_id)
  or y.id = (select i.collected_by_payment_id from invoices i where i.stripe_invoice_id = e.stripe_invoice_id))`;

/** Returns the SQL condition for a charge whose money another entry, also of a later payout, takes back. */
const hasFailed = (charge: SQL) => sql`exists (select from stripe_payout_entries f
  where f.stripe_payment_intent_id = ${charge}.stripe_payment_intent_id and f.source_id = ${charge}.source_id
    and f.type = ${DEBIT_FAILURE} and f.amount = -${charge}.amount)`;

/** Reads the entries of a payout with their payments, refunds and disputes. */
async function readEntries(db: Database, id: number): Promise<PayoutEntry[]> {
  const found = await rows<StoredEntry>(
    db,
    sql`select e.type, e.amount::text, e.net::text, e.currency, e.source_id as "sourceId",
        r.id as record_id, r.amount::text as record_amount, r.currency as record_currency,
        coalesce(r.elsewhere, 0)::text as elsewhere, r.is_sum as "isSum",
        e.type in ${CHARGES} and ${hasFailed(sql`e`)} as "hasFailed",
        e.type in ${CHARGES} and (select count(distinct y.invoice_id) from payments y
          where y.status in ('completed', 'refunded') and ${IS_PAYMENT}) > 1 as "isTwice",
        exists (select from payment_tombstones t
          where t.reference in (e.stripe_invoice_id, e.stripe_payment_intent_id, e.source_id)) as "isDeleted"
      from stripe_payout_entries e
      left join lateral (
        (select y.id, y.amount, y.currency, (select sum(o.amount) from stripe_payout_entries o
              where o.payout_id <> e.payout_id and o.type in ${CHARGES} and not ${hasFailed(sql`o`)}
                and (o.stripe_invoice_id = y.payment_reference
                  or o.stripe_payment_intent_id = y.stripe_payment_intent_id)) as elsewhere,
            y.source = 'stripe' and y.amount is not distinct from y.provider_amount
              and exists (select from invoices i where i.id = y.invoice_id and i.stripe_invoice_id = y.payment_reference
                or i.stripe_invoice_id = e.stripe_invoice_id and i.collected_by_payment_id = y.id) as is_sum
          from payments y where e.type in ${CHARGES} and ${IS_PAYMENT} order by y.id limit 1)
        union all
        select f.id, f.amount, f.currency, 0, false from refunds f where f.stripe_refund_id = e.source_id
        union all
        select d.id, d.amount, d.currency, 0, false from disputes d where d.stripe_dispute_id = e.source_id
      ) r on true
      where e.payout_id = ${id}::int order by e.id`,
  );
  return found.map(({ record_id, record_amount, record_currency, elsewhere, isSum, ...entry }) => ({
    ...entry,
    record:
      record_id === null
        ? null
        : { id: record_id, amount: record_amount, currency: record_currency, elsewhere, isSum },
  }));
}

/** Number of days before and after a payout's arrival date within which a bank statement can contain the payout. */
export const PAYOUT_DAYS = { before: 3, after: 7 };
/** Maximum gap between two statements. Statements of single days leave out weekends and bank holidays. */
const MAX_GAP_DAYS = 4;

/**
 * Returns whether the statements of one bank account cover all days on which a payout can still arrive, and whether any
 * statement has an entry for the payout. The account is the one with the latest entry that is linked to a payout in
 * this currency, or any account if no entry is linked. An entry counts if it is linked to the payout. An unlinked entry
 * counts if it has the payout's amount and currency, a date near the arrival, and the name of Stripe or the payout's id
 * in its text.
 */
async function readBank(db: Database, { id, stripe_payout_id, amount, currency, arrival_date }: PayoutRow) {
  const { before, after } = PAYOUT_DAYS;
  const [found] = await rows<{ isCovered: boolean; isInBank: boolean }>(
    db,
    sql`select exists (select from bank_statements s where s.currency = ${currency}
            and s.last_day >= ${arrival_date}::date - ${MAX_GAP_DAYS}::int
            and s.account = coalesce((select e.account from bank_entries e
              where e.payout_id is not null and e.currency = ${currency} order by e.day desc, e.id desc limit 1), s.account)
          group by s.account having max(s.last_day) >= ${arrival_date}::date + ${after}::int
            and range_agg(daterange(s.first_day, s.last_day + ${MAX_GAP_DAYS}::int, '[]'))
              @> daterange(${arrival_date}::date, ${arrival_date}::date + ${after}::int, '[]')) as "isCovered",
        exists (select from bank_entries e where e.payout_id = ${id}::int
          or e.payout_id is null and e.transfer_id is null and e.currency = ${currency} and e.amount = ${amount}::numeric
            and e.day between ${arrival_date}::date - ${before}::int and ${arrival_date}::date + ${after}::int
            and (e.name || ' ' || e.purpose ilike '%stripe%' or strpos(e.purpose, ${stripe_payout_id}) > 0)) as "isInBank"`,
  );
  return found ?? { isCovered: false, isInBank: false };
}

const MAX_LISTED = 20;

export type ListedPayout = Awaited<ReturnType<typeof listLatestPayouts>>[number];

/** Lists up to 20 payouts: first those with differences, then the others. The latest payout of each group is first. */
export function listLatestPayouts(db: Database) {
  return db
    .select()
    .from(p)
    .orderBy(desc(sql`${p.differences} <> '[]'`), desc(p.arrival_date), desc(p.id))
    .limit(literal(MAX_LISTED));
}
