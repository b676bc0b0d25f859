import type { AuditEntry } from '../audit/audit-log';
import { toCalendarDate } from '../dates';
import { AppError, type FieldError, invalidField } from '../errors';
import { leftOf, settledAfter, takesPayments } from '../invoices/settle';
import { currencyDecimals, hasCurrencyPrecision, MAX_AMOUNT } from '../money';
import { MAX_ID } from '../page';
import {
  emptyPlan,
  type Keys,
  keysOf,
  type Paid,
  type Plan,
  type Snapshot,
  type StoredInvoice,
  type StoredPayment,
  type StoredRefund,
  Table,
  toTablePlan,
} from '../store/snapshot';
import type { StaffTask } from '../tasks/staff-tasks';
import { recordRefund, refundedAfter, statusAfter } from './money-back';
import {
  type PaymentChange,
  type PaymentChanges,
  type PaymentInput,
  type PaymentRow,
  type PaymentUpdate,
  type PaymentWriter,
  paymentNotFound,
  READ_ONLY,
  type Refunded,
  toPaymentRow,
} from './schema';
import { alreadyCounted, isMoreAtStripe, isOffStripe, namesStripeMoney, toMoneyTask } from './stripe-payment';

/** The decided change of one payment. A new payment has a temporary, negative id. */
export interface PaymentDecision {
  before: StoredPayment | null;
  /** The payment afterwards. Null if it is deleted. */
  after: StoredPayment | null;
}

/**
 * Returns the keys of all rows that a decision about a change reads.
 *
 * @param known the payment to change; absent before the first read
 */
export function keysOfChange(change: PaymentChange, known?: StoredPayment): Keys {
  if (change.kind === 'record') {
    const { payment_reference, invoice_id, customer_id } = change.input;
    const money = namesStripeMoney(payment_reference) ? [payment_reference] : [];
    return keysOf({
      recorded: [payment_reference],
      invoiceIds: [invoice_id],
      mergedIds: [customer_id],
      money,
    });
  }
  const key = { paymentIds: [Math.min(change.id, MAX_ID)] };
  if (change.kind === 'delete' || typeof change.changes === 'function') return keysOf(key);
  const { payment_reference: renamed, invoice_id: target, customer_id } = change.changes;
  const reference = renamed ?? known?.payment_reference ?? '';
  const invoices = [target ?? known?.invoice_id ?? []].flat();
  return keysOf({
    ...key,
    ...(renamed !== undefined && { recorded: [renamed] }),
    ...(target !== undefined && { invoiceIds: [target] }),
    ...(customer_id !== undefined && { mergedIds: [customer_id] }),
    ...((renamed ?? target) !== undefined &&
      namesStripeMoney(reference) && { invoiceIds: invoices, money: [reference] }),
  });
}

/** Finds the payment that a change concerns in the snapshot. */
export function findChanged({ rows }: Snapshot, change: PaymentChange): StoredPayment | undefined {
  if (change.kind !== 'record') return rows.payments.get(change.id);
  const { payment_reference: reference } = change.input;
  return [...rows.payments.values()].find((row) => row.payment_reference === reference);
}

/** The rows that decisions about payments read, overlaid with their changes. Several decisions can share one draft. */
export class PaymentDraft {
  readonly payments: Table<number, StoredPayment>;
  readonly invoices: Table<number, StoredInvoice>;
  readonly refunds: Table<number, StoredRefund>;
  readonly audits: AuditEntry[] = [];
  readonly tasks: StaffTask[] = [];
  readonly tombstones: string[] = [];
  /** References that are ids of Stripe payments. Sync must not record the same payments at the same time. */
  readonly money = new Set<string>();
  private readonly paid: Map<number, Paid>;
  private readonly seen = new Set<number>();
  private lastId = 0;

  constructor(readonly snapshot: Snapshot) {
    const { payments, invoices, refunds } = snapshot.rows;
    const idOf = ({ id }: { id: number }) => id;
    this.payments = new Table(payments, idOf);
    this.invoices = new Table(invoices, idOf);
    this.refunds = new Table(refunds, idOf);
    this.paid = new Map(snapshot.paid);
  }

  newId(): number {
    this.lastId -= 1;
    return this.lastId;
  }

  /** Ids of the invoices whose payments have changed in this draft. */
  get invoiceIds(): number[] {
    return [...this.seen];
  }

  paidOf(invoiceId: number): Paid {
    return this.paid.get(invoiceId) ?? { all: 0, offStripe: 0 };
  }

  /** Adds a payment to its invoice's sums (sign 1) or removes it (-1). The commit compares the invoice's version. */
  count(payment: StoredPayment, sign: 1 | -1): void {
    const { all, offStripe } = this.paidOf(payment.invoice_id);
    const left = sign * leftOf(payment);
    this.seen.add(payment.invoice_id);
    this.paid.set(payment.invoice_id, {
      all: all + left,
      offStripe: offStripe + (isOffStripe(payment) ? left : 0),
    });
  }

  /** Replaces the id of a merged customer with the id of the customer into which it was merged. */
  meantCustomer(id: number, invoice: StoredInvoice | undefined): number {
    return invoice && invoice.customer_id !== id ? (this.snapshot.mergedInto.get(id) ?? id) : id;
  }

  moneyBackOf(paymentId: number) {
    const isIts = ({ payment_id }: { payment_id: number | null }) => payment_id === paymentId;
    const disputes = [...this.snapshot.rows.disputes.values()].filter(isIts);
    return { refunds: this.refunds.all().filter(isIts), disputes };
  }

  /** Settles the invoices outside Stripe whose payments have changed. */
  settle({ now, timeZone }: { now: Date; timeZone: string }): void {
    for (const id of this.seen) {
      const invoice = this.invoices.before(id);
      if (!invoice || invoice.stripe_invoice_id !== null) continue;
      const paid = { before: this.snapshot.paid.get(id)?.all ?? 0, after: this.paidOf(id).all };
      this.invoices.put({
        ...invoice,
        ...settledAfter(invoice, paid, { today: toCalendarDate(now, timeZone), now }),
      });
    }
  }

  toPlan(): Plan {
    const settled = toTablePlan(this.invoices).updated;
    const isSettled = new Set(settled.map(({ id }) => id));
    const { links } = this.snapshot.rows;
    const concerned = this.money.size === 0 ? [] : this.ownersOfSeen();
    return {
      ...emptyPlan(),
      invoicesSettled: settled.map(({ id, version, status, amount_paid, amount_due, paid_at }) => {
        return { id, version, status, amount_paid, amount_due, paid_at };
      }),
      payments: toTablePlan(this.payments),
      refunds: toTablePlan(this.refunds),
      audits: this.audits,
      tasks: this.tasks,
      tombstones: this.tombstones,
      invoicesSeen: [...this.seen].flatMap((id) => {
        const invoice = isSettled.has(id) ? undefined : this.invoices.before(id);
        return invoice ? { id, version: invoice.version } : [];
      }),
      concerned,
      // Increment the versions of these Stripe customers' links, so that concurrent sync decisions about them conflict.
      touched: concerned.flatMap((id) => {
        const link = links.get(id);
        return link ? { stripe_customer_id: id, version: link.version } : [];
      }),
      money: [...this.money],
    };
  }

  private ownersOfSeen(): string[] {
    const owners = [...this.seen].map((id) => this.invoices.before(id)?.stripe_customer_id ?? null);
    return [...new Set(owners)].filter((owner) => owner !== null);
  }
}

/**
 * Decides on a change of a payment, and adds its rows to the draft. The caller then settles the draft once. A refused
 * new payment leaves the draft unchanged.
 *
 * @throws AppError validation_failed if the payment does not fit its invoice, or for a changed read-only field; conflict
 *   if the reference is taken, or names a Stripe payment that sync has recorded; precondition_failed; not_found
 */
export function decidePayment(
  draft: PaymentDraft,
  change: PaymentChange,
  writer: PaymentWriter,
): PaymentDecision {
  const before = findChanged(draft.snapshot, change) ?? null;
  if (change.kind === 'record') {
    const { input, onlyNew, precondition = () => true } = change;
    if (!precondition(before && toPaymentRow(before))) throw notAsWanted(before);
    if (before && onlyNew) throw referenceTaken();
    return { before, after: before ? update(draft, before, input, writer) : create(draft, input, writer) };
  }
  if (!before) throw paymentNotFound(change.id);
  const { precondition = () => true } = change;
  if (!precondition(toPaymentRow(before))) {
    throw new AppError('precondition_failed', 'The payment has changed since you read it: read it again.');
  }
  if (change.kind === 'delete') {
    remove(draft, before, writer);
    return { before, after: null };
  }
  const changes = typeof change.changes === 'function' ? change.changes(before) : change.changes;
  refuseReadOnly(toPaymentRow(before), changes);
  return { before, after: update(draft, before, changes, writer) };
}

function notAsWanted(current: StoredPayment | null): AppError {
  const found = current ? 'The payment of this reference is not as you want it' : 'There is no such payment';
  return new AppError('precondition_failed', `${found}: read it again.`);
}

/** Error for a reference that another payment has. */
export function referenceTaken(): AppError {
  return new AppError('conflict', 'Another payment has this payment_reference.', [
    { field: 'payment_reference', message: 'is used by another payment' },
  ]);
}

/** Refuses changes of read-only fields. They may be sent with the values that GET returned. */
function refuseReadOnly(current: PaymentRow, changes: PaymentUpdate): void {
  const problems = READ_ONLY.filter((name) => name in changes && changes[name] !== current[name]).map(
    (field) => ({ field, message: 'is read-only: leave it out, or send the value that was read' }),
  );
  if (problems.length > 0) throw new AppError('validation_failed', 'The body is not valid.', problems);
}

function create(draft: PaymentDraft, input: PaymentInput & Refunded, writer: PaymentWriter): StoredPayment {
  const { cameBack, refundedAt, ...given } = input;
  const { source, now } = writer;
  const invoice = draft.invoices.get(input.invoice_id);
  const wanted = { ...given, customer_id: draft.meantCustomer(input.customer_id, invoice) };
  refuseCounted(draft, wanted);
  const { currency } = checkPayment(
    wanted,
    invoice,
    true,
    source === 'import' ? tookPayments : takesPayments,
  );
  const status = input.status ?? 'completed';
  refuseFuture({ ...wanted, status }, writer);
  const made: StoredPayment = {
    ...wanted,
    id: draft.newId(),
    amount: wanted.amount.toFixed(3),
    currency,
    refunded_amount: (cameBack ?? (status === 'refunded' ? wanted.amount : 0)).toFixed(3),
    status,
    source,
    provider_amount: null,
    provider_payment_date: null,
    stripe_payment_intent_id: null,
    stripe_charge_id: null,
    version: 0,
    created_at: now,
    updated_at: now,
  };
  refuseOverLimit(draft, null, made);
  draft.payments.put(made);
  noteMoney(draft, made);
  if (Number(made.refunded_amount) > 0) {
    recordRefund(draft, made, made.refunded_amount, { ...writer, refundedAt });
  }
  draft.count(made, 1);
  addAudit(draft, { action: 'payment.create', before: null, after: made }, writer);
  return made;
}

/** Changes a payment. Returns `before` itself if no value differs. */
function update(
  draft: PaymentDraft,
  before: StoredPayment,
  changes: PaymentChanges & Refunded,
  writer: PaymentWriter,
): StoredPayment {
  const given = withChanges(before, changes);
  const invoice = draft.invoices.get(given.invoice_id);
  const wanted = { ...given, customer_id: draft.meantCustomer(given.customer_id, invoice) };
  const moved = wanted.invoice_id !== before.invoice_id;
  const renamed = wanted.payment_reference !== before.payment_reference;
  const { currency } = checkPayment(wanted, invoice, moved);
  if (currency !== before.currency && changes.amount === undefined) {
    throw invalidField('amount', `must be given: the invoice is in ${currency.toUpperCase()}`);
  }
  const values = { ...wanted, currency, amount: wanted.amount.toFixed(3) };
  if (isSame(before, values, changes.cameBack)) return before;
  // Check only changed values, so that other fields of a payment with a future date can still be changed.
  if (wanted.payment_date !== before.payment_date || wanted.status !== before.status) {
    refuseFuture(wanted, writer);
  }
  if (renamed && draft.payments.all().some(isNamed(wanted.payment_reference))) throw referenceTaken();
  if ((moved || renamed) && before.source !== 'stripe') refuseCounted(draft, wanted, before.id);
  // Sync finds its payment by reference, so without a tombstone it would record a renamed payment a second time.
  if (before.source === 'stripe' && renamed) draft.tombstones.push(before.payment_reference);
  const refunded_amount = refundedAfter(draft, before, { ...before, ...values }, changes, writer);
  const status = changes.status ?? statusAfter(before, { amount: values.amount, refunded_amount });
  const after = { ...before, ...values, refunded_amount, status };
  refuseOverLimit(draft, before, after);
  draft.payments.put(after);
  if (moved || renamed) noteMoney(draft, after);
  draft.count(before, -1);
  draft.count(after, 1);
  addAudit(draft, { action: 'payment.update', before, after }, writer);
  return after;
}

const isNamed = (reference: string) => (row: StoredPayment) => row.payment_reference === reference;

/**
 * Deletes a payment. Its last state stays in the audit log. A payment that Stripe reported leaves a tombstone, so that
 * sync does not record it again. Refunds recorded here are deleted as well. Refunds that Stripe reported stay, but
 * without a payment.
 */
function remove(draft: PaymentDraft, payment: StoredPayment, writer: PaymentWriter): void {
  if (payment.source === 'stripe') draft.tombstones.push(payment.payment_reference);
  for (const refund of draft.moneyBackOf(payment.id).refunds) {
    if (refund.stripe_refund_id === null) draft.refunds.delete(refund.id);
    else draft.refunds.put({ ...refund, payment_id: null, source: 'stripe' });
  }
  draft.payments.delete(payment.id);
  draft.count(payment, -1);
  addAudit(draft, { action: 'payment.delete', before: payment, after: null }, writer);
}

/** Maximum sum of an invoice's payments, in thousandths. The column `amount_paid` cannot store more. */
const MAX_PAID = 1000 * (MAX_AMOUNT + 1) - 1;

/** Refuses a payment of an invoice outside Stripe if the sum of its payments would exceed MAX_PAID. */
function refuseOverLimit(draft: PaymentDraft, before: StoredPayment | null, after: StoredPayment): void {
  const { invoice_id } = after;
  if (draft.invoices.get(invoice_id)?.stripe_invoice_id !== null) return;
  const was = before?.invoice_id === invoice_id ? leftOf(before) : 0;
  if (draft.paidOf(invoice_id).all - was + leftOf(after) <= MAX_PAID) return;
  throw invalidField('amount', 'makes the payments of the invoice add up to more than can be stored');
}

/** Adds an audit entry. The commit fills in the times that it writes. */
function addAudit(
  draft: PaymentDraft,
  { action, before, after }: PaymentDecision & { action: string },
  { actor }: PaymentWriter,
): void {
  const entity_id = after?.id ?? before?.id ?? 0;
  const written = after && {
    ...after,
    updated_at: null,
    ...(before ? { version: before.version + 1 } : { created_at: null }),
  };
  draft.audits.push({ actor, action, entity: 'payment', entity_id, before, after: written });
}

function noteMoney(draft: PaymentDraft, { payment_reference }: StoredPayment): void {
  if (namesStripeMoney(payment_reference)) draft.money.add(payment_reference);
}

/** Refuses a Stripe payment's id as reference if sync recorded that payment, or any payment of the same invoice. */
function refuseCounted(
  { payments, invoices }: PaymentDraft,
  { payment_reference: reference, invoice_id }: Pick<StoredPayment, 'payment_reference' | 'invoice_id'>,
  id = 0,
): void {
  if (!namesStripeMoney(reference)) return;
  const stripeInvoice = invoices.get(invoice_id)?.stripe_invoice_id ?? null;
  const isCounted = (row: StoredPayment) =>
    row.source === 'stripe' &&
    row.id !== id &&
    (row.stripe_payment_intent_id === reference ||
      row.stripe_charge_id === reference ||
      (stripeInvoice !== null && (row.invoice_id === invoice_id || row.payment_reference === stripeInvoice)));
  const [counted] = payments
    .all()
    .filter(isCounted)
    .sort((a, b) => a.id - b.id);
  if (counted) throw alreadyCounted(counted);
}

/**
 * Checks a payment against its invoice.
 *
 * @param isNew true if the payment is new on this invoice; an existing one on a cancelled invoice can still be refunded
 * @param takes returns whether an invoice takes a new payment
 * @throws AppError validation_failed with the fields
 */
export function checkPayment<
  Invoice extends Pick<StoredInvoice, 'id' | 'customer_id' | 'status' | 'currency'>,
>(
  payment: { invoice_id: number; customer_id: number; amount: number },
  invoice: Invoice | undefined,
  isNew: boolean,
  takes: (invoice: Invoice) => boolean = takesPayments,
): Invoice {
  const problems: FieldError[] = [];
  const add = (field: string, message: string) => problems.push({ field, message });
  if (!invoice) {
    add('invoice_id', `there is no invoice ${payment.invoice_id}`);
  } else {
    if (isNew && !takes(invoice)) {
      add('invoice_id', `invoice ${invoice.id} is ${invoice.status} and takes no payment`);
    }
    if (invoice.customer_id !== payment.customer_id) {
      add('customer_id', `invoice ${invoice.id} does not belong to customer ${payment.customer_id}`);
    }
    if (!hasCurrencyPrecision(payment.amount, invoice.currency)) {
      const decimals = currencyDecimals(invoice.currency);
      add('amount', `must have at most ${decimals} decimals in ${invoice.currency.toUpperCase()}`);
    }
  }
  if (!invoice || problems.length > 0) {
    throw new AppError('validation_failed', 'The payment does not fit its invoice.', problems);
  }
  return invoice;
}

/** True if an invoice takes an imported payment, which may have been made before the invoice was cancelled. */
const tookPayments = ({ status }: Pick<StoredInvoice, 'status'>): boolean => status !== 'draft';

/** Refuses a future date from staff or a file unless the payment is pending. The REST API allows any date. */
function refuseFuture(
  { payment_date, status }: Pick<StoredPayment, 'payment_date' | 'status'>,
  { source, now, timeZone }: PaymentWriter,
): void {
  if (status === 'pending' || source === 'api') return;
  if (payment_date > toCalendarDate(now, timeZone)) {
    throw invalidField('payment_date', 'must not be in the future unless the payment is pending');
  }
}

/** Returns whether a payment already has the requested values. */
export const isAlready = (payment: StoredPayment, changes: PaymentChanges & Refunded): boolean =>
  isSame(payment, withChanges(payment, changes), changes.cameBack);

/** Returns a payment's fields with the changes applied. */
const withChanges = (before: StoredPayment, changes: PaymentChanges) => ({
  invoice_id: changes.invoice_id ?? before.invoice_id,
  customer_id: changes.customer_id ?? before.customer_id,
  amount: changes.amount ?? Number(before.amount),
  payment_date: changes.payment_date ?? before.payment_date,
  payment_reference: changes.payment_reference ?? before.payment_reference,
  status: changes.status ?? before.status,
});

/** Returns whether a payment already has these values. @param told the refunded amount, if it is set */
function isSame(
  before: StoredPayment,
  values: Partial<Record<keyof StoredPayment, unknown>>,
  told: number | undefined,
): boolean {
  const isTold = told === undefined || told === Number(before.refunded_amount);
  return (
    isTold &&
    Object.entries(values).every(([field, value]) =>
      field === 'amount'
        ? Number(before.amount) === Number(value)
        : before[field as keyof StoredPayment] === value,
    )
  );
}

/**
 * Creates a staff task if a change adds money to a Stripe invoice and Stripe does not count it, or if more is
 * then recorded than is due in Stripe. The payment is still accepted, because received money is always
 * booked. Call this function after all payments of a draft are decided.
 *
 * @returns a warning for the writer if the change adds money and more is then recorded than is due in Stripe
 */
export function warnOfExcess(draft: PaymentDraft, { before, after }: PaymentDecision): string | undefined {
  const invoice = after && draft.invoices.get(after.invoice_id);
  if (!invoice || !isMoreAtStripe(invoice, before, after)) return undefined;
  const beside = draft.paidOf(invoice.id).offStripe - (isOffStripe(after) ? leftOf(after) : 0);
  const task = toMoneyTask(invoice, after, beside);
  if (!task) return undefined;
  draft.tasks.push(task);
  return task.kind === 'payment_exceeds_due' ? task.message : undefined;
}
