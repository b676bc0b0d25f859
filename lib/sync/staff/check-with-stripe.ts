import { eq, inArray, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { type Database, isDatabaseUnavailable, rows } from '@/db/database';
import {
  disputes,
  type FieldChange,
  invoices,
  payments,
  refunds,
  subscriptionItems,
  subscriptions,
} from '@/db/schema';
import { type Actor, type AuditRow, recordAudit } from '../../audit/audit-log';
import { AppError } from '../../errors';
import { stackOf } from '../../log';
import { isIntent, namesStripeMoney, stripePaymentOf } from '../../payments/stripe-payment';
import { keysOf } from '../../store/snapshot';
import { type ListedKind, type ListRequest, listIntents, listObjects } from '../../stripe/fetch';
import { attachPayment, type MoneyBackKind } from '../decide/money-back';
import { applyObject, applyRetrieved, keysOfProvided, type Provided } from '../decide/object';
import { nameChanges } from '../reconcile/changes';
import { decideMissing } from '../reconcile/missing-payments';
import { failureCode, type StripeDeps } from '../reconcile/object';
import type { SyncDeps } from '../sync-deps';
import { synchronize, type Work } from '../synchronize';

export type Checkable = 'payment' | 'invoice' | 'subscription';

/**
 * Compares a record with Stripe and applies the differences. An invoice is checked with its payments, a payment with
 * its invoice, and each payment with its refunds and disputes.
 *
 * @throws AppError not_found; conflict if the record has no id at Stripe, or if there is no API key
 */
export async function checkWithStripe(
  deps: SyncDeps,
  actor: Actor,
  entity: Checkable,
  id: number,
): Promise<Checked> {
  const { stripe } = deps;
  const { subscription, invoice, paymentIds, customer_id } = await findRecord(deps.db, entity, id);
  if (!stripe) throw new AppError('conflict', 'STRIPE_SECRET_KEY is not set: Stripe cannot be asked.');
  const check: Check = { deps: { ...deps, stripe }, changes: [], failures: [] };
  if (subscription) await retrieve(check, 'subscription', subscription);
  if (invoice) await checkInvoice(check, invoice);
  const known = entity === 'invoice' ? await paymentsOf(deps.db, id) : paymentIds;
  for (const paymentId of known) await checkPaidBack(check, paymentId, invoice ?? null);
  const { failures } = check;
  const changes = await withNewIds(deps.db, check.changes);
  await recordAudit(deps.db, {
    actor,
    action: `${entity}.check`,
    entity,
    entity_id: id,
    before: null,
    after: { customer_id, changes, failures },
  });
  return { changes, failures };
}

async function checkInvoice(check: Check, id: string): Promise<void> {
  await retrieve(check, 'invoice', id);
  await attempt(check, () =>
    perform(check, {
      stripeCustomerId: null,
      keys: keysOf({ invoices: [id], payments: [id] }),
      decide: (draft) => decideMissing(draft, id),
    }),
  );
}

interface CheckedRecord {
  /** Stripe's id of the subscription. */
  subscription?: string;
  /** Stripe's id of the invoice. Null for a payment of our own invoice. */
  invoice?: string | null;
  paymentIds: number[];
  customer_id: number;
}

async function findRecord(db: Database, entity: Checkable, id: number): Promise<CheckedRecord> {
  if (entity === 'payment') {
    const [found] = await db
      .select({
        invoice: invoices.stripe_invoice_id,
        intent: payments.stripe_payment_intent_id,
        reference: payments.payment_reference,
        customer_id: payments.customer_id,
      })
      .from(payments)
      .innerJoin(invoices, eq(invoices.id, payments.invoice_id))
      .where(eq(payments.id, id));
    if (!found) throw notFound(entity, id);
    const { invoice, customer_id } = found;
    if (invoice === null && stripePaymentOf(found) === null) throw unknownTo(entity);
    return { invoice, customer_id, paymentIds: [id] };
  }
  const [found] =
    entity === 'invoice'
      ? await db
          .select({ stripeId: invoices.stripe_invoice_id, customer_id: invoices.customer_id })
          .from(invoices)
          .where(eq(invoices.id, id))
      : await db
          .select({ stripeId: subscriptions.stripe_subscription_id, customer_id: subscriptions.customer_id })
          .from(subscriptions)
          .where(eq(subscriptions.id, id));
  if (!found) throw notFound(entity, id);
  const { stripeId, customer_id } = found;
  if (stripeId === null) throw unknownTo(entity);
  return { [entity]: stripeId, paymentIds: [], customer_id };
}

async function paymentsOf(db: Database, invoiceId: number): Promise<number[]> {
  const found = await db.select({ id: payments.id }).from(payments).where(eq(payments.invoice_id, invoiceId));
  return found.map(({ id }) => id);
}

const unknownTo = (entity: Checkable) => new AppError('conflict', `Stripe does not know this ${entity}.`);
const notFound = (entity: Checkable, id: number) => new AppError('not_found', `There is no ${entity} ${id}.`);

/**
 * Checks the refunds and disputes that Stripe lists for a payment, and then the stored ones that were not in the lists.
 */
async function checkPaidBack(check: Check, paymentId: number, invoice: string | null): Promise<void> {
  await attempt(check, async () => {
    const listed = new Set<string>();
    for (const charge of await chargesOf(check, paymentId, invoice)) {
      await applyAll(check, 'refund', charge, listed);
      await applyAll(check, 'dispute', charge, listed);
    }
    for (const { kind, id } of await stored(check, paymentId)) {
      if (id !== null && !listed.has(id)) await retrieve(check, kind, id);
    }
  });
}

type Of = NonNullable<ListRequest['of']>;

/** Returns the payment intents of a payment and of its invoice, and the payment's reference if it is a charge id. */
async function chargesOf({ deps }: Check, paymentId: number, invoice: string | null): Promise<Of[]> {
  const [payment] = await deps.db.select().from(payments).where(eq(payments.id, paymentId));
  const { payment_reference: reference = '', stripe_payment_intent_id: own = null } = payment ?? {};
  const named = [own, reference].filter((id) => id !== null && isIntent(id)) as string[];
  const intents = new Set([...named, ...(invoice ? await listIntents(deps.stripe, invoice) : [])]);
  return [
    ...[...intents].map((payment_intent) => ({ payment_intent })),
    ...(namesStripeMoney(reference) && !isIntent(reference) ? [{ charge: reference }] : []),
  ];
}

async function applyAll(check: Check, kind: MoneyBackKind, of: Of, listed: Set<string>): Promise<void> {
  const { stripe, now } = check.deps;
  const all = { status: null, createdFrom: null, of };
  const read = (after: string | null) => listObjects(stripe, now, kind, { ...all, after });
  for (let page = await read(null); ; page = await read(page.next)) {
    for (const value of page.objects) {
      listed.add(value.id);
      const object = { kind, value } as Provided;
      await perform(check, {
        stripeCustomerId: null,
        keys: keysOfProvided(object),
        decide: (draft) => {
          applyObject(draft, object, { origin: 'listed', asOf: page.asOf });
          attachPayment(draft, kind, value.id);
        },
      });
    }
    check.failures.push(...page.refused.map(({ error }) => error.name));
    if (page.next === null) return;
  }
}

function stored({ deps: { db } }: Check, paymentId: number) {
  return rows<{ kind: MoneyBackKind; id: string | null }>(
    db,
    sql`select 'refund' as kind, stripe_refund_id as id from refunds where payment_id = ${paymentId}::int
      union all select 'dispute', stripe_dispute_id from disputes where payment_id = ${paymentId}::int`,
  );
}

export interface Checked {
  changes: FieldChange[];
  /** Short error codes of the steps that failed. Empty if everything was checked. */
  failures: string[];
}

interface Check extends Checked {
  deps: StripeDeps;
}

async function perform<T>(
  check: Check,
  work: Pick<Work<T>, 'stripeCustomerId' | 'keys' | 'decide'>,
): Promise<T> {
  const { result, changes } = await synchronize(check.deps, work);
  check.changes.push(...changes);
  return result;
}

/** Runs one step of the check. If it fails, adds the error code to `failures`, and lets the other steps run. */
async function attempt(check: Check, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error;
    check.deps.log.error({ stack: stackOf(error) }, 'check with Stripe failed');
    check.failures.push(failureCode(error));
  }
}

function retrieve(check: Check, kind: ListedKind, id: string): Promise<void> {
  return attempt(check, async () => {
    const failure = await perform(check, {
      stripeCustomerId: null,
      keys: keysOf({ [`${kind}s`]: [id] }),
      decide: (draft) => applyRetrieved(draft, kind, id),
    });
    if (failure) check.failures.push(failure);
  });
}

type WithId = PgTable & { id: PgColumn };

const NAMES: Partial<Record<FieldChange['entity'], [table: WithId, name: PgColumn]>> = {
  subscription: [subscriptions, subscriptions.stripe_subscription_id],
  subscription_item: [subscriptionItems, subscriptionItems.stripe_subscription_item_id],
  invoice: [invoices, invoices.stripe_invoice_id],
  payment: [payments, payments.payment_reference],
  refund: [refunds, refunds.stripe_refund_id],
  dispute: [disputes, disputes.stripe_dispute_id],
};

/** Replaces the temporary ids of new rows with the ids from the database, or with null if a row is not found. */
async function withNewIds(db: Database, changes: FieldChange[]): Promise<FieldChange[]> {
  const isNew = ({ entity_id }: FieldChange) => entity_id !== null && entity_id < 0;
  const ids = new Map<string, number>();
  for (const [entity, [table, name]] of Object.entries(NAMES)) {
    const names = changes.flatMap((one) => (one.entity === entity && isNew(one) && one.stripe_id) || []);
    if (names.length === 0) continue;
    const found = await db.select({ id: table.id, name }).from(table).where(inArray(name, names));
    for (const row of found) ids.set(`${entity} ${row.name}`, Number(row.id));
  }
  return changes.map((one) =>
    isNew(one) ? { ...one, entity_id: ids.get(`${one.entity} ${one.stripe_id}`) ?? null } : one,
  );
}

export function isCheck({ action }: Pick<AuditRow, 'action'>): boolean {
  return action.endsWith('.check');
}

export function toChecked({ after }: Pick<AuditRow, 'after'>): Checked {
  const { changes = [], failures = [] } = (after ?? {}) as Partial<Checked>;
  return { changes, failures };
}

export type LastCheck = NonNullable<Awaited<ReturnType<typeof getLastCheck>>>;

/**
 * Returns the latest check in a record's audit log. Returns null if the record was never checked.
 *
 * @param history the audit log, with the latest entry first
 */
export async function getLastCheck(db: Database, history: AuditRow[]) {
  const entry = history.find(isCheck);
  if (!entry) return null;
  const { id, actor_name, created_at } = entry;
  const { changes, failures } = toChecked(entry);
  return { id, actor_name, at: created_at, changes: await nameChanges(db, changes), failures };
}
