import type { AuditEntry } from '../audit/audit-log';
import { toCalendarDate } from '../dates';
import { AppError, invalidField } from '../errors';
import { checkPayment, leftOf, settledAfter, takesPayments } from '../invoices/settle';
import { fromThousandths, MAX_AMOUNT, toAmountText, toThousandths } from '../money';
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
  type StoredTransfer,
  Table,
  toTablePlan,
} from '../store/snapshot';
import type { StaffTask } from '../tasks/staff-tasks';
import { recordRefund, refundedAfter, statusAfter } from './money-back';
import {
  isSame,
  ofTransfer,
  type PaymentChange,
  type PaymentChanges,
  type PaymentInput,
  type PaymentRow,
  type PaymentUpdate,
  type PaymentWriter,
  paymentNotFound,
  READ_ONLY,
  type Refunded,
  toChanges,
  toPaymentRow,
  withChanges,
} from './schema';
import {
  isMoreAtStripe,
  isOffStripe,
  keepFindable,
  namesStripeMoney,
  refuseCounted,
  toMoneyTask,
} from './stripe-payment';

/** The decided change of one payment. The id of a new payment is negative until the commit assigns one. */
export interface PaymentDecision {
  before: StoredPayment | null;
  /** The payment afterwards. Null if it is deleted. */
  after: StoredPayment | null;
}

/**
 * Returns the keys of all rows that a decision about a change reads.
 *
 * @param known the stored payment to change; undefined if it has not been read yet, or does not exist
 */
export function keysOfChange(change: PaymentChange, known?: StoredPayment): Keys {
  const transfers = [known?.transfer ?? []].flat();
  if (change.kind === 'record') {
    const { payment_reference, invoice_id, customer_id } = change.input;
    const recorded = [payment_reference];
    const money = namesStripeMoney(payment_reference) ? recorded : [];
    return keysOf({ recorded, invoiceIds: [invoice_id], mergedIds: [customer_id], money, transfers });
  }
  const key = { paymentIds: [Math.min(change.id, MAX_ID)], transfers };
  if (change.kind === 'delete' || typeof change.changes === 'function') return keysOf(key);
  const { payment_reference: renamed, invoice_id: target, customer_id } = change.changes;
  const reference = renamed ?? known?.payment_reference ?? '';
  const invoices = [target ?? known?.invoice_id ?? []].flat();
  return keysOf({
    ...key,
    ...(renamed !== undefined && { recorded: [renamed], invoices: [known?.payment_reference ?? []].flat() }),
    ...(target !== undefined && { invoiceIds: [target] }),
    ...(customer_id !== undefined && { mergedIds: [customer_id] }),
    ...((renamed ?? target) !== undefined &&
      namesStripeMoney(reference) && { invoiceIds: invoices, money: [reference] }),
  });
}

/** Finds the stored payment that a change concerns. */
export function findChanged({ rows }: Snapshot, change: PaymentChange): StoredPayment | undefined {
  if (change.kind !== 'record') return rows.payments.get(change.id);
  return [...rows.payments.values()].find(isNamed(change.input.payment_reference));
}

/** The rows that decisions about payments read, with all changes decided so far. Decisions can share a draft. */
export class PaymentDraft {
  readonly payments: Table<number, StoredPayment>;
  readonly transfers: Table<number, StoredTransfer>;
  readonly invoices: Table<number, StoredInvoice>;
  readonly refunds: Table<number, StoredRefund>;
  readonly audits: AuditEntry[] = [];
  readonly tasks: StaffTask[] = [];
  readonly tombstones: string[] = [];
  /**
   * Payment references that are ids of Stripe payments. The commit locks them, so that sync does not record the same
   * payments at the same time.
   */
  readonly money = new Set<string>();
  private readonly paid: Map<number, Paid>;
  private readonly seen = new Set<number>();
  private lastId = 0;

  constructor(readonly snapshot: Snapshot) {
    const { payments, transfers, invoices, refunds } = snapshot.rows;
    const idOf = ({ id }: { id: number }) => id;
    this.payments = new Table(payments, idOf);
    this.transfers = new Table(transfers, idOf);
    this.invoices = new Table(invoices, idOf);
    this.refunds = new Table(refunds, idOf);
    this.paid = new Map(snapshot.paid);
  }

  newId(): number {
    this.lastId -= 1;
    return this.lastId;
  }

  /** Ids of the invoices whose payments this draft has changed. */
  get invoiceIds(): number[] {
    return [...this.seen];
  }

  paidOf(invoiceId: number): Paid {
    return this.paid.get(invoiceId) ?? { all: 0, offStripe: 0, back: 0 };
  }

  /** Adds a payment to the sums paid on its invoice (sign 1), or subtracts it (-1). */
  count(payment: StoredPayment, sign: 1 | -1): void {
    const was = this.paidOf(payment.invoice_id);
    const left = sign * leftOf(payment);
    const isCollected = this.invoices.get(payment.invoice_id)?.collected_by_payment_id === payment.id;
    const offStripe = was.offStripe + (isOffStripe(payment) && !isCollected ? left : 0);
    this.seen.add(payment.invoice_id);
    this.paid.set(payment.invoice_id, { ...was, all: was.all + left, offStripe });
  }

  findTransfer(reference: string): StoredTransfer | undefined {
    return this.transfers.all().find((row) => row.reference === reference);
  }

  /**
   * Subtracts an amount from a transfer's credit for one of its payments. A negative amount increases the credit.
   *
   * @param amount in thousandths of the currency's major unit
   * @throws AppError conflict if the credit is smaller than the amount
   */
  drawCredit(reference: string, amount: number): void {
    if (amount === 0) return;
    const transfer = this.findTransfer(reference);
    if (!transfer) throw new Error('the transfer of a payment was not read');
    const left = toThousandths(transfer.credit) - amount;
    if (left < 0) {
      const text = toAmountText(transfer.credit, transfer.currency);
      throw ofTransfer(reference, 'amount', `exceeds what is left of the transfer, which is ${text}`);
    }
    this.transfers.put({ ...transfer, credit: fromThousandths(left) });
  }

  /** Returns the customer that `id` was merged into. Returns `id` if it was not merged or is the invoice's customer. */
  resolveMergedCustomer(id: number, invoice: StoredInvoice | undefined): number {
    return invoice && invoice.customer_id !== id ? (this.snapshot.mergedInto.get(id) ?? id) : id;
  }

  moneyBackOf(paymentId: number) {
    const isIts = ({ payment_id }: { payment_id: number | null }) => payment_id === paymentId;
    const disputes = [...this.snapshot.rows.disputes.values()].filter(isIts);
    return { refunds: this.refunds.all().filter(isIts), disputes };
  }

  /**
   * Recalculates the status and amounts of the invoices whose payments this draft has changed, except Stripe's
   * invoices. Adds an audit entry for each changed transfer.
   */
  settle({ actor, now, timeZone }: Pick<PaymentWriter, 'actor' | 'now' | 'timeZone'>): void {
    for (const [id, changed] of this.transfers.changed) {
      const before = this.transfers.before(id) ?? null;
      if (!before && !changed) continue;
      const action = before ? (changed ? 'transfer.update' : 'transfer.delete') : 'transfer.create';
      const times = {
        updated_at: null,
        ...(before ? { version: before.version + 1 } : { created_at: null }),
      };
      const after = changed && { ...changed, ...times };
      this.audits.push({ actor, action, entity: 'transfer', entity_id: id, before, after });
    }
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
    const changed = toTablePlan(this.invoices).updated;
    const ofStripe = changed.filter(({ stripe_invoice_id }) => stripe_invoice_id !== null);
    const settled = changed.filter((invoice) => !ofStripe.includes(invoice));
    const concerned = this.money.size === 0 ? [] : this.ownersOfSeen();
    return {
      ...emptyPlan(),
      invoices: { ...emptyPlan().invoices, updated: ofStripe },
      invoicesSettled: settled.map(({ id, version, status, amount_paid, amount_due, paid_at }) => {
        return { id, version, status, amount_paid, amount_due, paid_at };
      }),
      transfers: toTablePlan(this.transfers),
      payments: toTablePlan(this.payments),
      refunds: toTablePlan(this.refunds),
      audits: this.audits,
      tasks: this.tasks,
      tombstones: this.tombstones,
      invoicesSeen: [...this.seen].flatMap((id) => {
        const invoice = changed.some((row) => row.id === id) ? undefined : this.invoices.before(id);
        return invoice ? { id, version: invoice.version } : [];
      }),
      concerned,
      // Increment the versions of these Stripe customers' links, so that concurrent sync decisions about them conflict.
      touched: concerned.flatMap((id) => {
        const link = this.snapshot.rows.links.get(id);
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
 * Decides on a change to a payment, and adds the changed rows to the draft. Call `settle` after the last decision. If a
 * new payment is refused, the draft stays unchanged.
 *
 * @throws AppError not_found; precondition_failed; validation_failed, for example if the payment does not fit its
 *   invoice; conflict if the reference is taken or names a Stripe payment that sync has recorded, or if the payment's
 *   transfer does not allow the change
 */
export function decidePayment(
  draft: PaymentDraft,
  change: PaymentChange,
  writer: PaymentWriter,
): PaymentDecision {
  const before = findChanged(draft.snapshot, change) ?? null;
  if (change.kind === 'record') {
    const { input, onlyNew, precondition = () => true } = change;
    if (!precondition(before && toPaymentRow(before))) throw preconditionFailed(before);
    if (before && onlyNew) throw referenceTaken();
    if (before) checkShare(before, input);
    else if (draft.findTransfer(input.payment_reference)) throw referenceTaken('A transfer');
    return { before, after: before ? update(draft, before, input, writer) : create(draft, input, writer) };
  }
  if (!before) throw paymentNotFound(change.id);
  const { precondition = () => true } = change;
  if (!precondition(toPaymentRow(before))) {
    throw new AppError('precondition_failed', 'The payment has changed since you read it: read it again.');
  }
  if (change.kind === 'delete') {
    removeShare(draft, before, writer);
    return { before, after: null };
  }
  const changes = toChanges(change.changes, before, draft.moneyBackOf(before.id).refunds);
  refuseReadOnly(toPaymentRow(before), changes);
  checkShare(before, changes);
  return { before, after: update(draft, before, changes, writer) };
}

/** Refuses changes that a transfer does not allow for one of its payments. */
function checkShare(before: StoredPayment, { invoice_id, payment_reference, status }: PaymentChanges): void {
  const { transfer } = before;
  if (transfer === null) return;
  if (invoice_id !== undefined && invoice_id !== before.invoice_id) {
    throw ofTransfer(transfer, 'invoice_id', `must stay ${before.invoice_id}`);
  }
  if (payment_reference !== undefined && payment_reference !== before.payment_reference) {
    throw ofTransfer(transfer, 'payment_reference', 'must stay as it is');
  }
  if (status === 'pending' || status === 'failed') {
    throw ofTransfer(transfer, 'status', 'must be completed or refunded');
  }
}

function preconditionFailed(current: StoredPayment | null): AppError {
  const found = current ? 'This payment does not meet the precondition' : 'There is no such payment';
  return new AppError('precondition_failed', `${found}: read it again.`);
}

/** Error for a reference that another payment or a transfer already uses. */
export function referenceTaken(owner = 'Another payment'): AppError {
  return new AppError('conflict', `${owner} has this payment_reference.`, [
    { field: 'payment_reference', message: `is used by ${owner.toLowerCase()}` },
  ]);
}

/** Refuses changes of read-only fields. A request may contain these fields with their current values. */
function refuseReadOnly(current: PaymentRow, changes: PaymentUpdate): void {
  const problems = READ_ONLY.filter((name) => name in changes && changes[name] !== current[name]).map(
    (field) => ({ field, message: 'is read-only: leave it out, or send the value that was read' }),
  );
  if (problems.length > 0) throw new AppError('validation_failed', 'The body is not valid.', problems);
}

/** Adds a payment. If the payment is a share of a transfer, subtracts its amount from the transfer's credit. */
export function create(
  draft: PaymentDraft,
  input: PaymentInput & Refunded,
  writer: PaymentWriter,
  origin: Pick<StoredPayment, 'source' | 'transfer'> = { source: writer.source, transfer: null },
): StoredPayment {
  const { cameBack, refundedAt, refundReason, ...given } = input;
  const { source, now } = writer;
  const invoice = draft.invoices.get(input.invoice_id);
  const wanted = { ...given, customer_id: draft.resolveMergedCustomer(input.customer_id, invoice) };
  refuseCounted(draft, wanted);
  const { currency } = checkPayment(
    wanted,
    invoice,
    true,
    source === 'import' ? tookPayments : takesPayments,
  );
  const isFullyRefunded = cameBack !== undefined && cameBack >= wanted.amount;
  const status = input.status ?? (isFullyRefunded ? 'refunded' : 'completed');
  refuseFuture({ ...wanted, status }, writer);
  const made: StoredPayment = {
    ...wanted,
    id: draft.newId(),
    amount: wanted.amount.toFixed(3),
    currency,
    refunded_amount: (cameBack ?? (status === 'refunded' ? wanted.amount : 0)).toFixed(3),
    status,
    provider_amount: null,
    provider_payment_date: null,
    stripe_payment_intent_id: null,
    stripe_charge_id: null,
    ...origin,
    version: 0,
    created_at: now,
    updated_at: now,
  };
  refuseOverLimit(draft, null, made);
  if (made.transfer !== null) draft.drawCredit(made.transfer, toThousandths(made.amount));
  draft.payments.put(made);
  noteMoney(draft, made);
  if (Number(made.refunded_amount) > 0) {
    recordRefund(draft, made, made.refunded_amount, { ...writer, refundedAt, refundReason });
  }
  draft.count(made, 1);
  addAudit(draft, { action: 'payment.create', before: null, after: made }, writer);
  return made;
}

/** Changes a payment. Returns `before` itself if no value differs. */
export function update(
  draft: PaymentDraft,
  before: StoredPayment,
  changes: PaymentChanges & Refunded,
  writer: PaymentWriter,
): StoredPayment {
  const given = withChanges(before, changes);
  const invoice = draft.invoices.get(given.invoice_id);
  const wanted = { ...given, customer_id: draft.resolveMergedCustomer(given.customer_id, invoice) };
  const moved = wanted.invoice_id !== before.invoice_id;
  const { payment_reference: reference } = wanted;
  const renamed = reference !== before.payment_reference;
  const { currency } = checkPayment(wanted, invoice, moved);
  if (currency !== before.currency && changes.amount === undefined) {
    throw invalidField('amount', `must be given: the invoice is in ${currency.toUpperCase()}`);
  }
  const values = { ...wanted, currency, amount: wanted.amount.toFixed(3) };
  if (isSame(before, values, changes.cameBack)) return before;
  // Check the date only if date or status changes, so that other fields of a payment with a future date can be changed.
  if (wanted.payment_date !== before.payment_date || wanted.status !== before.status) {
    refuseFuture(wanted, writer);
  }
  if (renamed && draft.payments.all().some(isNamed(reference))) throw referenceTaken();
  if (renamed && !before.transfer && draft.findTransfer(reference)) throw referenceTaken('A transfer');
  if ((moved || renamed) && before.source !== 'stripe') refuseCounted(draft, wanted, before.id);
  if (before.source === 'stripe' && renamed) keepFindable(draft, before);
  const refunded_amount = refundedAfter(draft, before, { ...before, ...values }, changes, writer);
  const status = changes.status ?? statusAfter(before, { amount: values.amount, refunded_amount });
  const after = { ...before, ...values, refunded_amount, status };
  refuseOverLimit(draft, before, after);
  if (before.transfer !== null) {
    refuseBelowRefunded(before, after);
    draft.drawCredit(before.transfer, toThousandths(after.amount) - toThousandths(before.amount));
  }
  draft.payments.put(after);
  if (moved || renamed) noteMoney(draft, after);
  draft.count(before, -1);
  draft.count(after, 1);
  addAudit(draft, { action: 'payment.update', before, after }, writer);
  return after;
}

const isNamed = (reference: string) => (row: StoredPayment) => row.payment_reference === reference;

/**
 * Deletes a payment. If it is a share of a transfer, its amount is added to the transfer's credit.
 *
 * @throws AppError conflict if part of the share was refunded, because the credit would then include returned money
 */
export function removeShare(draft: PaymentDraft, payment: StoredPayment, writer: PaymentWriter): void {
  const { transfer, refunded_amount } = payment;
  if (transfer !== null && Number(refunded_amount) > 0) {
    throw ofTransfer(transfer, 'refunded_amount', 'must be 0 before the payment is deleted alone');
  }
  remove(draft, payment, writer);
}

/**
 * Deletes a payment. Its last state stays in the audit log. A payment that Stripe reported leaves a tombstone, so that
 * sync does not record it again. Refunds recorded here are deleted as well. Refunds that Stripe reported stay, but
 * without a payment.
 */
export function remove(draft: PaymentDraft, payment: StoredPayment, writer: PaymentWriter): void {
  if (payment.transfer !== null) draft.drawCredit(payment.transfer, -toThousandths(payment.amount));
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

/** Refuses a payment if it would make the sum of payments on one of our own invoices exceed MAX_PAID. */
function refuseOverLimit(draft: PaymentDraft, before: StoredPayment | null, after: StoredPayment): void {
  const { invoice_id } = after;
  if (draft.invoices.get(invoice_id)?.stripe_invoice_id !== null) return;
  const was = before?.invoice_id === invoice_id ? leftOf(before) : 0;
  if (draft.paidOf(invoice_id).all - was + leftOf(after) <= MAX_PAID) return;
  throw invalidField('amount', 'makes the payments of the invoice add up to more than can be stored');
}

/** Refuses to reduce a share below its refunded amount, so that money already returned does not become credit. */
function refuseBelowRefunded({ transfer, refunded_amount, currency }: StoredPayment, after: StoredPayment) {
  if (Number(after.amount) >= Number(refunded_amount)) return;
  const text = toAmountText(refunded_amount, currency);
  throw ofTransfer(transfer ?? '', 'amount', `must be at least ${text}, which was refunded`);
}

/** Adds an audit entry for a payment. The commit fills in the payment's times. */
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

/** Imported payments may be for a cancelled invoice, because they may have been made before it was cancelled. */
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

/**
 * Adds a staff task if a change adds money to a Stripe invoice, and Stripe does not count this money or asks for less
 * than is now recorded. The payment is still accepted, because received money is always booked. Call this function
 * after all payments of a draft are decided.
 *
 * @returns a warning for the writer if more is now recorded than Stripe asks for
 */
export function warnOfExcess(draft: PaymentDraft, { before, after }: PaymentDecision): string | undefined {
  const invoice = after && draft.invoices.get(after.invoice_id);
  if (!invoice || !isMoreAtStripe(invoice, before, after)) return undefined;
  const task = toMoneyTask(invoice, after, draft.paidOf(invoice.id));
  if (!task) return undefined;
  draft.tasks.push(task);
  return task.kind === 'payment_exceeds_due' ? task.message : undefined;
}
