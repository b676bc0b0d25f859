import { asAmount, asId, asInstant, asList, asObject, asText, type Json, toCurrency, toMoney } from './read';
import { toProviderCustomer } from './to-customer';
import { toProviderLines } from './to-invoice-lines';

const STATUSES = ['draft', 'open', 'paid', 'uncollectible', 'void'] as const;
/** Stripe's status of an invoice. Null for an unknown status. */
type Status = (typeof STATUSES)[number] | null;

export type ProviderInvoice = NonNullable<ReturnType<typeof toProviderInvoice>>;

/**
 * Converts an invoice of any API version. From 2025-03-31.basil on, the subscription is under `parent`. Before, it is
 * at the top level. The status is in `status` or, in payloads from before November 2018, in `paid`, `closed` and
 * `forgiven`.
 *
 * @returns null for an object without an id
 * @throws UnstorableError for an amount or a currency that no column can hold
 */
export function toProviderInvoice(object: unknown) {
  const payload = asObject(object);
  const id = asText(payload.id);
  if (id === null) return null;
  const currency = toCurrency(payload.currency);
  const money = (minor: number) => toMoney(minor, currency);
  const parent = asObject(asObject(payload.parent).subscription_details);
  const transitions = asObject(payload.status_transitions);
  const paid = amountPaid(payload);
  const total = asAmount(payload.total) ?? 0;
  const tax = taxOf(payload, total);
  const offStripe = amountOffStripe(payload, paid);
  const credited = amountCredited(payload);
  const due = amountDue(payload, paid);
  const balance = balanceApplied(payload, paid + due > total);
  const status = toStatus(payload);
  return {
    id,
    number: asText(payload.number),
    customer: toProviderCustomer(payload, {
      subscription: [
        parent.metadata,
        asObject(payload.subscription_details).metadata,
        asObject(payload.subscription).metadata,
      ],
      other: payload.metadata,
    }),
    stripeSubscriptionId: asId(parent.subscription) ?? asId(payload.subscription),
    /** Stripe's id of the original invoice, which a finalized revision voids. Null if this is not such a revision. */
    revises: revisedBy(payload, status),
    status,
    providerStatus: asText(payload.status),
    /** Date of the invoice: the effective date if it is set, otherwise the time of finalization or of creation. */
    issuedAt:
      asInstant(payload.effective_at) ??
      asInstant(transitions.finalized_at) ??
      asInstant(payload.created) ??
      asInstant(payload.date),
    dueAt: asInstant(payload.due_date),
    paidAt: asInstant(transitions.paid_at),
    attempted: payload.attempted === true,
    currency,
    /** Amounts are decimal text in major units. Unlike Stripe's subtotal, this subtotal is after discounts. */
    subtotal: money(total - tax),
    tax: money(tax),
    total: money(total),
    /** Amount that the customer paid, including overpayments. */
    amountPaid: money(paid),
    /** Amount that Stripe reports as remaining. It may be positive for a void invoice, although nothing is owed. */
    amountDue: money(due),
    /** Amount settled by credit notes, before and after payment. Null if the payload does not contain it. */
    amountCredited: credited === null ? null : money(credited),
    /**
     * Amount taken from the customer's balance. Negative if the invoice added to the balance. Null if unknown, see
     * `balanceApplied`.
     */
    balanceApplied: balance === null ? null : money(balance),
    /** Amount paid outside Stripe. Null if something was paid and the payload does not show where. */
    amountOffStripe: offStripe === null ? null : money(offStripe),
    /** Lines of the invoice. Stripe embeds only the first ten. Null if the payload contains no list of lines. */
    lines: toProviderLines(payload, currency),
    paymentIntentId: paymentIntentOf(payload),
    /** Ids of all payment intents and charges in the payload. */
    moneyIds: moneyIdsOf(payload),
    /** True if the invoice is open and a payment failed. Always false unless the payment intents are expanded. */
    paymentFailed: payload.status === 'open' && payload.attempted === true && hasFailedIntent(payload),
  };
}

function revisedBy({ from_invoice }: Json, status: Status): string | null {
  const { action, invoice } = asObject(from_invoice);
  return action === 'revision' && status !== 'draft' ? asId(invoice) : null;
}

function amountCredited(payload: Json): number | null {
  const before = asAmount(payload.pre_payment_credit_notes_amount);
  const after = asAmount(payload.post_payment_credit_notes_amount);
  return before === null && after === null ? null : (before ?? 0) + (after ?? 0);
}

/**
 * Returns the amount taken from the customer's balance, in minor units. Returns null for a draft, because Stripe
 * applies the balance when it finalizes the invoice. Also returns null for zero, unless more than the total was paid or
 * is due. In that case, zero shows that the excess is an overpayment and not an earlier debt.
 */
function balanceApplied(payload: Json, isBeyondTotal: boolean): number | null {
  const before = asAmount(payload.starting_balance);
  const after = asAmount(payload.ending_balance);
  if (before === null || after === null) return null;
  return after - before || (isBeyondTotal ? 0 : null);
}

function toStatus(payload: Json): Status {
  const status = asText(payload.status);
  if (status !== null) return STATUSES.find((known) => known === status) ?? null;
  if (payload.paid === true) return 'paid';
  if (payload.forgiven === true) return 'uncollectible';
  return payload.closed === true ? 'void' : 'open';
}

function amountPaid(payload: Json): number {
  const paid = asAmount(payload.amount_paid);
  if (paid !== null && !isSettledOutOfBand(payload)) return withOverpaid(payload, Math.max(0, paid));
  return payload.paid === true ? Math.max(0, asAmount(payload.amount_due) ?? 0) : 0;
}

/**
 * Returns the paid amount including overpayments. Before 2025-03-31.basil, `amount_paid` always includes them. From
 * then on, it may or may not include `amount_overpaid`. If the payload lists all payments, the larger of `amount_paid`
 * and the sum of the paid ones counts. Otherwise the overpayment is added, unless `amount_paid` exceeds `amount_due` by
 * at least `amount_overpaid` and so already includes it.
 */
function withOverpaid(payload: Json, paid: number): number {
  const listed = listedPayments(payload)?.filter(({ status }) => status === 'paid') ?? [];
  if (listed.length > 0) return Math.max(paid, sumOf(listed));
  const overpaid = paid > 0 ? (asAmount(payload.amount_overpaid) ?? 0) : 0;
  const isPartOfIt = paid - (asAmount(payload.amount_due) ?? 0) >= overpaid;
  return isPartOfIt ? paid : paid + overpaid;
}

/**
 * Returns whether an invoice before 2025-03-31.basil was marked as paid outside Stripe. In these API versions,
 * `amount_paid` does not include the payment, and the payment's amount still counts as remaining.
 */
function isSettledOutOfBand(payload: Json): boolean {
  return payload.paid === true && payload.paid_out_of_band === true;
}

function amountDue(payload: Json, paid: number): number {
  if (isSettledOutOfBand(payload)) return 0;
  const remaining = asAmount(payload.amount_remaining);
  return Math.max(0, remaining ?? (asAmount(payload.amount_due) ?? 0) - paid);
}

/** Returns the tax of an invoice or a credit note in minor units. */
export function taxOf(payload: Json, total: number): number {
  const tax = asAmount(payload.tax);
  if (tax !== null) return tax;
  const excluding = asAmount(payload.total_excluding_tax);
  if (excluding !== null) return total - excluding;
  const taxes = asList(payload.total_taxes ?? payload.total_tax_amounts);
  return taxes.reduce<number>((sum, entry) => sum + (asAmount(asObject(entry).amount) ?? 0), 0);
}

/**
 * Returns the amount paid outside Stripe in minor units. Returns null if something was paid and the payload does not
 * show where, as newer events do not.
 */
function amountOffStripe(payload: Json, paid: number): number | null {
  const reported = asAmount(payload.amount_paid_off_stripe);
  if (reported !== null) return reported;
  if (isSettledOutOfBand(payload)) return paid - Math.max(0, asAmount(payload.amount_paid) ?? 0);
  if (typeof payload.paid_out_of_band === 'boolean') return 0;
  const listed = listedPayments(payload);
  if (listed) return sumOf(listed.filter(isPaidRecord));
  return paid === 0 ? 0 : null;
}

/** Returns the payments of an invoice. Returns null if the payload does not list all of them. */
function listedPayments(payload: Json): Json[] | null {
  const { data, has_more } = asObject(payload.payments);
  return Array.isArray(data) && has_more !== true ? data.map(asObject) : null;
}

const isPaidRecord = ({ payment, status }: Json) =>
  asObject(payment).type === 'payment_record' && status === 'paid';

const sumOf = (invoicePayments: Json[]) =>
  invoicePayments.reduce((sum, { amount_paid }) => sum + (asAmount(amount_paid) ?? 0), 0);

function paymentIntentOf(payload: Json): string | null {
  const own = asId(payload.payment_intent);
  if (own !== null) return own;
  return paidFirst(payload).flatMap(({ payment_intent }) => asId(payment_intent) ?? [])[0] ?? null;
}

/** Returns what the payments of an invoice were made with. An attempt that failed comes after those that paid. */
function paidFirst(payload: Json): Json[] {
  const entries = asList(asObject(payload.payments).data).map(asObject);
  const isPaid = ({ status }: Json) => status === 'paid';
  return [...entries.filter(isPaid), ...entries.filter((one) => !isPaid(one))].map(({ payment }) =>
    asObject(payment),
  );
}

function moneyIdsOf(payload: Json): string[] {
  const named = [payload, ...paidFirst(payload)].flatMap(({ payment_intent, charge }) => [
    asId(payment_intent),
    asId(charge) ?? asId(asObject(payment_intent).latest_charge),
  ]);
  return [...new Set(named.filter((id) => id !== null))];
}

/**
 * Returns whether a payment of the invoice failed. A new intent has the same status `requires_payment_method`, but no
 * error.
 */
function hasFailedIntent(payload: Json): boolean {
  return asList(asObject(payload.payments).data).some((entry) => {
    const intent = asObject(asObject(asObject(entry).payment).payment_intent);
    return intent.status === 'requires_payment_method' && Boolean(intent.last_payment_error);
  });
}
