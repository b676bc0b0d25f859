import type { FieldChange } from '@/db/schema';
import { toCalendarDate } from '../../dates';
import { settledAfter } from '../../invoices/settle';
import { toAmountText } from '../../money';
import { cameBack, statusAfter } from '../../payments/money-back';
import { isIntent } from '../../payments/stripe-payment';
import type { StoredDispute, StoredPayment, StoredRefund, StoredRows } from '../../store/snapshot';
import type { ProviderObjects } from '../../stripe/fetch';
import { createdChange, isSameState, type Subject, toChanges } from './changes';
import type { Draft } from './draft';
import { decideOrder, type StateOrigin } from './order';

/**
 * Creates or updates a refund or dispute from its state at Stripe, then updates its payment. A new refund or dispute
 * with an unknown payment is stored without one, and a change with the outcome `reported` is logged.
 */
export function applyMoneyBack<Kind extends MoneyBackKind>(
  draft: Draft,
  kind: Kind,
  incoming: ProviderObjects[Kind],
  source: StateOrigin,
): void {
  const { blank, toState } = KINDS[kind];
  const stored = draft.row(kind, incoming.id);
  const row = stored ?? blank(draft, incoming);
  const known = stored && draft.paymentOf(stored);
  const decision = decideOrder(draft, {
    kind,
    incoming,
    stripeCustomerId: draft.ownerOf(known) ?? '',
    source,
    row: { ...row, recheck_at: null },
    isStored: (told) => row.provider_status === told.providerStatus && isSameState(row, toState(told, row)),
    decideFromInbox: () => incoming, // Never called, because no handled event contains a refund or dispute.
  });
  if (typeof decision === 'string') return;
  const { take, asOf } = decision;
  const { payment, stripe_invoice_id } = stored
    ? { payment: known, stripe_invoice_id: row.stripe_invoice_id }
    : findPayment(draft, take);
  const state = toState(take, row);
  draft.table(kind).put({
    ...row,
    ...state,
    payment_id: payment?.id ?? null,
    stripe_invoice_id,
    provider_status: take.providerStatus,
    provider_as_of: asOf,
    provider_gone_at: null,
  });
  const subject = { entity: kind, entity_id: row.id, stripe_id: take.id };
  const amount = toAmountText(take.amount, take.currency);
  draft.changes.push(...(stored ? toChanges(subject, row, state) : [createdChange(subject, amount)]));
  reportQuestions(draft, subject, { before: stored, told: take, payment });
  // Merge a refund recorded by staff or API clients only if Stripe's refund is new or has just left `pending`. Repeated
  // reports of a pending refund must not merge another one.
  const isNews = !stored || (stored.status === 'pending' && 'status' in state && state.status !== 'pending');
  const told = isNews && kind === 'refund' ? draft.row('refund', take.id) : undefined;
  if (!payment) return;
  settleMoneyBack(draft, payment, { told });
  if (kind === 'dispute') tellTakenBack(draft, take.id, payment);
}

interface Questions {
  before: StoredRefund | StoredDispute | undefined;
  told: ProviderObjects[MoneyBackKind];
  payment: StoredPayment | undefined;
}

function reportQuestions(
  draft: Draft,
  subject: Pick<FieldChange, 'entity' | 'entity_id' | 'stripe_id'>,
  { before, told, payment }: Questions,
): void {
  const report = (field: string, was: string | null, after: string | null) =>
    draft.changes.push({ ...subject, field, before: was, after, outcome: 'reported' });
  if (told.status === null && told.providerStatus !== before?.provider_status) {
    report('status', before?.status ?? null, told.providerStatus);
  }
  if (before) return;
  if (!payment) report('payment_id', null, null);
  else if (payment.currency !== told.currency) report('currency', payment.currency, told.currency);
}

/** Links a stored refund or dispute to its payment. If no stored id matches, asks Stripe for the intent's invoice. */
export function attachPayment<Kind extends MoneyBackKind>(draft: Draft, kind: Kind, stripeId: string): void {
  const row = draft.row(kind, stripeId);
  if (!row || row.payment_id !== null) return;
  const { stripe_payment_intent_id: intent, stripe_charge_id: charge } = row;
  const named = findStored(draft, [intent, charge, row.stripe_invoice_id]);
  // The payment intent may have paid an invoice since Stripe was last asked.
  const isAsked = !named && row.stripe_invoice_id === null && intent !== null;
  const invoice = isAsked ? askInvoice(draft, stripeId, intent) : row.stripe_invoice_id;
  const payment = named ?? findStored(draft, [invoice]);
  if (!payment) return;
  const after = { payment_id: payment.id };
  const subject = { entity: kind, entity_id: row.id, stripe_id: stripeId };
  draft.changes.push(...toChanges(subject, { payment_id: null }, after));
  draft.table(kind).put({ ...row, ...after, stripe_invoice_id: invoice });
  if (kind === 'dispute') tellTakenBack(draft, stripeId, payment);
  settleMoneyBack(draft, payment, { told: kind === 'refund' ? draft.row('refund', stripeId) : undefined });
}

type Named = Pick<Provider, 'id' | 'paymentIntentId' | 'chargeId'>;

interface Found {
  payment: StoredPayment | undefined;
  stripe_invoice_id: string | null;
}

/**
 * Finds the payment of a refund or dispute by its payment intent, or by a reference that is the id of its intent or
 * charge. If neither matches, asks Stripe which invoice the intent paid, and finds the payment of that invoice.
 */
function findPayment(draft: Draft, source: Named): Found {
  const { paymentIntentId: intent, chargeId: charge } = source;
  const known = findStored(draft, [intent, charge]);
  if (known) return { payment: known, stripe_invoice_id: draft.invoiceOf(known)?.stripe_invoice_id ?? null };
  if (!intent) return { payment: undefined, stripe_invoice_id: null };
  const invoice = askInvoice(draft, source.id, intent);
  return { payment: findStored(draft, [invoice]), stripe_invoice_id: invoice };
}

/**
 * Returns the Stripe id of the invoice that an intent paid. Returns null if the intent has not paid an invoice yet. If
 * Stripe does not answer, also returns null, and the decision fails (NotReportedError).
 */
function askInvoice(draft: Draft, moneyBackId: string, intent: string): string | null {
  const asked = draft.ask('invoicePaid', intent, '');
  if (asked.state === 'found') return asked.object;
  draft.leave(`what ${moneyBackId} was paid for`, asked);
  return null;
}

function findStored(draft: Draft, names: (string | null)[]): StoredPayment | undefined {
  const known = names.filter((name) => name !== null);
  const [byIntent] = known.flatMap((name) => (isIntent(name) ? draft.paymentsByIntent(name) : []));
  if (byIntent) return byIntent;
  const [byReference] = known.flatMap((name) => draft.payment(name) ?? []);
  return (
    byReference ??
    known.flatMap((name) => (name.startsWith('in_') ? (collectedOf(draft, name) ?? []) : []))[0]
  );
}

/** Returns the payment of Stripe's collection of an invoice if it was recorded here, or got another reference here. */
function collectedOf(draft: Draft, stripeInvoiceId: string): StoredPayment | undefined {
  const invoice = draft.row('invoice', stripeInvoiceId);
  return invoice && draft.collectedOf(invoice);
}

/**
 * Adds a staff task if a lost dispute, such as a returned bank debit, took back money that paid one of Stripe's
 * invoices. The customer owes the amount again, but Stripe still considers the invoice paid. Closes the task when the
 * dispute is no longer lost. Our own invoices need no task, because `settleMoneyBack` makes them unpaid again.
 */
function tellTakenBack(draft: Draft, stripeId: string, payment: StoredPayment): void {
  const dispute = draft.row('dispute', stripeId);
  const invoice = draft.invoiceOf(payment);
  if (!dispute || !invoice || invoice.stripe_invoice_id === null) return;
  const task = { kind: 'money_came_back' as const, subject: stripeId };
  const { amount, currency, status } = dispute;
  if (status !== 'lost') {
    if (draft.isTold(task)) draft.tasksOver.push(task);
    return;
  }
  const text = toAmountText(amount, currency);
  const message = `The bank took back ${text} of invoice ${invoice.number ?? invoice.stripe_invoice_id} (dispute ${stripeId}), which Stripe still calls paid: the customer owes ${text}.`;
  const about = { entity: 'dispute' as const, entity_id: dispute.id, stripe_id: stripeId };
  draft.tell({ ...task, message, entity: 'invoice', entity_id: invoice.id }, about);
}

interface Settled {
  /** A Stripe refund. An equal refund that staff or an API client recorded is merged into it. */
  told?: StoredRefund | undefined;
  values?: Partial<StoredPayment>;
}

/**
 * Recalculates the refunded amount and status of a payment. If its invoice is our own, also recalculates the invoice.
 */
export function settleMoneyBack(draft: Draft, payment: StoredPayment, { told, values }: Settled = {}): void {
  const owner = draft.ownerOf(payment);
  if (owner) draft.concerned.add(owner);
  if (told) mergeRecorded(draft, payment, told);
  const changed = { ...payment, ...values };
  const { refunded, excess } = cameBack(changed, draft.moneyBackOf(payment));
  const status = statusAfter(payment, { amount: changed.amount, refunded_amount: refunded });
  const after = { ...values, refunded_amount: refunded, status };
  const subject = { entity: 'payment' as const, entity_id: payment.id, stripe_id: payment.payment_reference };
  draft.changes.push(...toChanges(subject, payment, after));
  if (excess > 0 && excessBefore(draft, payment) === 0) reportExcess(draft, subject, changed, excess);
  draft.payments.put({ ...payment, ...after });
  settleOwnInvoice(draft, payment);
}

function reportExcess(draft: Draft, subject: Subject, payment: StoredPayment, excess: number): void {
  const { amount, currency } = payment;
  const all = String(Number(amount) + excess);
  const told = toChanges(subject, { refunded_amount: amount, currency }, { refunded_amount: all });
  draft.changes.push(...told.map((change) => ({ ...change, outcome: 'reported' as const })));
}

/** Merges a refund that staff or an API client recorded into Stripe's refund of the same amount, currency and date. */
function mergeRecorded(draft: Draft, payment: StoredPayment, told: StoredRefund): void {
  const dayOf = ({ issued_at }: StoredRefund) => toCalendarDate(issued_at, draft.timeZone);
  const isIt = (one: StoredRefund) =>
    one.stripe_refund_id === null &&
    one.status !== 'cancelled' &&
    Number(one.amount) === Number(told.amount) &&
    one.currency === told.currency &&
    dayOf(one) === dayOf(told);
  const recorded = draft.moneyBackOf(payment).refunds.find(isIt);
  if (!recorded || told.source !== 'stripe') return;
  const { source } = recorded;
  const subject = { entity: 'refund' as const, entity_id: told.id, stripe_id: told.stripe_refund_id };
  draft.changes.push(...toChanges(subject, told, { source }));
  draft.refunds.put({ ...told, source });
  draft.refunds.delete(recorded.id);
}

function excessBefore(draft: Draft, payment: StoredPayment): number {
  const isIts = (row: { payment_id: number | null }) => row.payment_id === payment.id;
  const { refunds, disputes } = draft.snapshot.rows;
  const known = {
    refunds: [...refunds.values()].filter(isIts),
    disputes: [...disputes.values()].filter(isIts),
  };
  return cameBack(payment, known).excess;
}

function settleOwnInvoice(draft: Draft, payment: StoredPayment): void {
  const invoice = draft.invoiceOf(payment);
  // Use the snapshot's paid amount, because `paidOf` also starts from the snapshot.
  const before = invoice && draft.invoices.before(invoice.id);
  if (!invoice || !before || invoice.stripe_invoice_id !== null) return;
  const at = { today: toCalendarDate(draft.now, draft.timeZone), now: draft.now };
  const after = settledAfter({ ...invoice, amount_paid: before.amount_paid }, draft.paidOf(invoice.id), at);
  draft.changes.push(
    ...toChanges({ entity: 'invoice', entity_id: invoice.id, stripe_id: null }, invoice, after),
  );
  draft.invoices.put({ ...invoice, ...after });
}

export type MoneyBackKind = 'refund' | 'dispute';

/** Functions that convert refunds or disputes to rows. */
interface Kind<Provider, Row> {
  blank(draft: Draft, provider: Provider): Row;
  toState(provider: Provider, row: Row): Partial<Row>;
}

const KINDS: { [K in MoneyBackKind]: Kind<ProviderObjects[K], StoredRows[`${K}s`]> } = {
  refund: {
    blank: (draft, refund) => ({
      ...common(draft, refund),
      stripe_refund_id: refund.id,
      status: 'pending',
      source: 'stripe',
    }),
    toState: (refund, row) => ({ ...toCommon(refund, row), status: refund.status ?? row.status }),
  },
  dispute: {
    blank: (draft, dispute) => ({
      ...common(draft, dispute),
      stripe_dispute_id: dispute.id,
      status: 'under_review',
      evidence_due_at: null,
      funds_withdrawn_at: null,
      funds_returned_at: null,
    }),
    toState: (dispute, row) => ({
      ...toCommon(dispute, row),
      status: dispute.status ?? row.status,
      evidence_due_at: dispute.evidenceDueAt,
      funds_withdrawn_at: dispute.fundsWithdrawnAt,
      funds_returned_at: dispute.fundsReturnedAt,
    }),
  },
};

type Provider = ProviderObjects[MoneyBackKind];

function common(draft: Draft, { amount, currency }: Provider) {
  return {
    ...draft.newRow(),
    payment_id: null,
    stripe_payment_intent_id: null,
    stripe_charge_id: null,
    stripe_invoice_id: null,
    amount,
    currency,
    provider_status: null,
    reason: null,
    issued_at: draft.now,
    provider_as_of: null,
    provider_gone_at: null,
  };
}

function toCommon(provider: Provider, row: StoredRefund | StoredDispute) {
  const { amount, currency, reason, issuedAt, paymentIntentId, chargeId } = provider;
  return {
    amount,
    currency,
    reason,
    issued_at: issuedAt ?? row.issued_at,
    stripe_payment_intent_id: paymentIntentId,
    stripe_charge_id: chargeId,
  };
}
