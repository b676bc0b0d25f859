import { asc, eq, getTableColumns, inArray, sql } from 'drizzle-orm';
import { type Database, lockKey } from '@/db/database';
import {
  bankRules,
  creditNotes,
  customerNotes,
  customerServices,
  customers,
  invoices,
  mergedCustomers,
  monthAmounts,
  payments,
  salesDocuments,
  stripeCustomers,
  subscriptions,
  toolCalls,
  transfers,
} from '@/db/schema';
import { ChangedMeanwhileError, transact } from '@/db/transaction';
import { type Actor, recordAudit } from '../../audit/audit-log';
import { differingFields, type MergedField } from '../../customers/merged-customers';
import { toCustomerDetails } from '../../customers/queries';
import { isSure } from '../../customers/sure-link';
import { AppError, invalidField } from '../../errors';
import { MAX_ID } from '../../page';
import type { Seen } from '../../records/steps';
import { commit, isVersionConflict } from '../../store/commit';
import { keysOf } from '../../store/snapshot';
import { read } from '../../store/store';
import { moveStripeCustomer } from '../decide/customer';
import type { Draft } from '../decide/draft';
import { settleMoved } from '../decide/subscription/checkout';
import type { SyncDeps } from '../sync-deps';
import { bookedOn, Inquiry, readAndDecide, settingsOf } from '../synchronize';

type Customer = typeof customers.$inferSelect;

/**
 * Merges the customer `gone` into the customer `kept`. Moves all rows, deletes `gone`, and keeps its number as an
 * alias. The merge cannot be undone. A Stripe customer for which sync created one of the two is then linked by staff.
 *
 * @param taken names of the fields that `kept` takes over from `gone`
 * @throws AppError validation_failed if both are the same; not_found; conflict if one has changed or was erased
 */
export async function mergeCustomers(
  deps: SyncDeps,
  actor: Actor,
  { gone, kept, taken }: { gone: Seen; kept: Seen; taken: string[] },
): Promise<void> {
  if (gone.id === kept.id) throw invalidField('with', 'is the same customer');
  await transact(deps.db, async (tx) => {
    await lockInOrder(tx, gone.id, kept.id);
    const [before, other] = await readSeen(tx, kept, gone);
    for (const { table } of REFERRING) {
      await tx.update(table).set({ customer_id: before.id }).where(eq(table.customer_id, other.id));
    }
    await tx.delete(customers).where(eq(customers.id, other.id));
    const { id, customer_number } = other;
    await tx
      .insert(mergedCustomers)
      .values({ id, customer_number, customer_id: before.id, created_at: deps.now() });
    const after = await takeOver(tx, before, other, taken);
    await settleMerged({ ...deps, db: tx }, before.id);
    await audit(tx, actor, { before, after, other });
  });
}

/** Locks Stripe customers, then invoices, then payments, as all writers do. `readSeen` locks both customers last. */
async function lockInOrder(tx: Database, gone: number, kept: number): Promise<void> {
  const links = await tx
    .select({ id: stripeCustomers.stripe_customer_id })
    .from(stripeCustomers)
    .where(inArray(stripeCustomers.customer_id, [gone, kept]));
  for (const id of links.map((link) => link.id).sort()) await lockKey(tx, id);
  for (const table of [invoices, payments]) {
    await tx.execute(sql`select count(*) from (
      select from ${table} where ${table.customer_id} = ${gone}::int order by ${table.id} for update) locked`);
  }
}

/** Reads both customers and locks their rows, so that no rows are added to either before the merge. */
async function readSeen(tx: Database, kept: Seen, gone: Seen): Promise<[Customer, Customer]> {
  const found = await tx
    .select()
    .from(customers)
    .where(
      inArray(
        customers.id,
        [kept.id, gone.id].map((id) => Math.min(id, MAX_ID)),
      ),
    )
    .orderBy(asc(customers.id))
    .for('update');
  const [before, other] = [kept, gone].map(({ id }) => found.find((row) => row.id === id));
  if (!before || !other) throw new AppError('not_found', 'One of the two customers no longer exists.');
  if (before.version !== kept.version || other.version !== gone.version) {
    throw new AppError('conflict', 'Somebody else has changed one of them since you opened this.');
  }
  if (before.erased_at || other.erased_at) {
    throw new AppError('conflict', 'A customer that was erased cannot be merged.');
  }
  return [before, other];
}

async function takeOver(tx: Database, before: Customer, other: Customer, taken: string[]): Promise<Customer> {
  const isTaken = (field: MergedField) => taken.includes(field);
  const fields = differingFields(before, other).filter(isTaken);
  const values = Object.fromEntries(fields.map((field) => [field, other[field]]));
  const [after] = await tx
    .update(customers)
    .set({ ...values, updated_at: sql`now()` })
    .where(eq(customers.id, before.id))
    .returning(getTableColumns(customers));
  return after ?? before;
}

async function audit(
  tx: Database,
  actor: Actor,
  { before, after, other }: { before: Customer; after: Customer; other: Customer },
): Promise<void> {
  const entry = { actor, action: 'customer.merge', entity: 'customer' } as const;
  const merged_into = before.customer_number;
  await recordAudit(tx, { ...entry, entity_id: other.id, before: other, after: { ...other, merged_into } });
  await recordAudit(tx, {
    ...entry,
    entity_id: before.id,
    before,
    after: { ...after, merged_customer: other.customer_number },
  });
}

/**
 * Links items and checkouts again, because they may refer to services or subscriptions that have moved to the remaining
 * customer. Does not ask Stripe.
 *
 * @param deps dependencies of sync, with the merge's transaction as `db`
 */
async function settleMerged(deps: SyncDeps, customerId: number): Promise<void> {
  const links = await deps.db
    .select({ id: stripeCustomers.stripe_customer_id })
    .from(stripeCustomers)
    .where(eq(stripeCustomers.customer_id, customerId))
    .orderBy(asc(stripeCustomers.stripe_customer_id));
  for (const { id } of links) await settle(deps, id);
}

async function settle(deps: SyncDeps, id: string): Promise<void> {
  const question = {
    settings: settingsOf(deps),
    keys: keysOf({ stripeCustomers: [id], whole: [id] }),
    decide: (draft: Draft) => decide(draft, id),
  };
  const decided = await readAndDecide((keys) => read(deps.db, keys), question, new Inquiry());
  if ('wanted' in decided) throw new Error('Stripe was to be asked within a transaction');
  const given = { plan: decided.plan, events: [], runId: null, bookedOn: () => bookedOn(deps) };
  await commit(deps.db, given).catch(orAgain);
}

function decide(draft: Draft, id: string): void {
  draft.concerned.add(id);
  const stored = draft.link(id);
  if (!stored) return;
  const { customer_id: customerId, linked_by: linkedBy } = stored;
  // Staff confirm the link by merging a customer that was created for a Stripe customer.
  if (linkedBy === 'created')
    moveStripeCustomer(draft, stored, { customerId, linkedBy: 'staff', origin: null });
  else if (isSure({ linkedBy })) draft.moved.push(id);
  settleMoved(draft);
}

/** Restarts the transaction after a conflict, because a transaction cannot continue after a failed statement. */
function orAgain(error: unknown): never {
  throw isVersionConflict(error) ? new ChangedMeanwhileError() : error;
}

/**
 * Returns both customers of a merge, their differing fields and the counts of moving rows.
 *
 * @throws AppError not_found
 */
export async function compareCustomers(db: Database, ids: { kept: number; gone: number }) {
  const found = await db
    .select()
    .from(customers)
    .where(inArray(customers.id, [ids.kept, ids.gone]));
  const [kept, gone] = [ids.kept, ids.gone].map((id) => found.find((row) => row.id === id));
  if (!kept || !gone) throw new AppError('not_found', 'One of these customers does not exist.');
  const moving = await Promise.all(
    REFERRING.map(async ({ table, noun }) => ({
      noun,
      count: await db.$count(table, eq(table.customer_id, gone.id)),
    })),
  );
  return {
    kept: { ...toCustomerDetails(kept), version: kept.version },
    gone: { ...toCustomerDetails(gone), version: gone.version },
    differing: differingFields(kept, gone),
    moving: moving.filter(({ count }) => count > 0),
  };
}

export type Comparison = Awaited<ReturnType<typeof compareCustomers>>;

/**
 * The tables that refer to customers, except those that triggers derive, in the order in which a merge updates them. A
 * test checks that none is missing.
 */
export const REFERRING = [
  { table: stripeCustomers, noun: 'Stripe customer' },
  { table: mergedCustomers, noun: 'merged customer' },
  { table: customerNotes, noun: 'note' },
  { table: customerServices, noun: 'service' },
  { table: subscriptions, noun: 'subscription' },
  { table: invoices, noun: 'invoice' },
  { table: creditNotes, noun: 'credit note' },
  { table: salesDocuments, noun: 'sales document' },
  { table: payments, noun: 'payment' },
  { table: transfers, noun: 'transfer' },
  { table: bankRules, noun: 'bank rule' },
  { table: monthAmounts, noun: 'amount of a report' },
  { table: toolCalls, noun: 'tool call' },
] as const;
