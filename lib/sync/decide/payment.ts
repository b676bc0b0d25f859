import { toCalendarDate } from '../../dates';
import { fromThousandths, toAmountText, toThousandths } from '../../money';
import { isIntent } from '../../payments/stripe-payment';
import type { StoredInvoice, StoredPayment } from '../../store/snapshot';
import type { ProviderInvoice } from '../../stripe/to-invoice';
import type { StaffTask } from '../../tasks/staff-tasks';
import { createdChange } from './changes';
import type { Draft } from './draft';
import { settleMoneyBack } from './money-back';

export interface Collected {
  amountPaid: string;
  /** Amount paid outside Stripe. Null if it is unknown. */
  amountOffStripe: string | null;
  paidAt: Date;
  paymentIntentId: string | null;
  /** Stripe's ids of the payment intents and charges in the invoice's payload. Empty if there is no payload. */
  moneyIds: string[];
}

/**
 * Records the amount that Stripe collected for an invoice as one payment, even if Stripe reports it several times, but
 * not if staff or API clients already recorded it. A later report of another amount corrects the payment, see
 * `correct`. A deleted payment is never recorded again. Until Stripe reports the amount paid outside Stripe,
 * the whole paid amount counts as collected.
 *
 * @param reference Stripe's id of the invoice, which becomes the payment's reference
 */
export function applyPayment(
  draft: Draft,
  reference: string,
  invoice: StoredInvoice,
  collected: Collected,
): void {
  const { currency } = invoice;
  const isStored = Number(collected.amountPaid) === Number(invoice.amount_paid);
  const off = collected.amountOffStripe ?? (isStored ? invoice.amount_off_stripe : null);
  const amount = (Number(collected.amountPaid) - Number(off ?? 0)).toFixed(3);
  if (Number(amount) <= 0) return;
  const payment_date = toCalendarDate(collected.paidAt, draft.timeZone);
  const stored = findSynced(draft, reference, invoice);
  if (stored) {
    correct(draft, stored, amount, payment_date, off !== null);
    return;
  }
  if (draft.isBuried(reference)) return;
  const recorded = findRecorded(draft, reference, invoice, collected.moneyIds);
  if (recorded.length > 0) {
    leaveRecorded(draft, recorded, invoice, amount);
    return;
  }
  const made = draft.payments.put({
    ...draft.newRow(),
    invoice_id: invoice.id,
    customer_id: invoice.customer_id,
    amount,
    currency,
    payment_date,
    payment_reference: reference,
    refunded_amount: '0',
    status: 'completed',
    source: 'stripe',
    provider_amount: amount,
    provider_payment_date: payment_date,
    ...toMoneyColumns(collected),
    transfer: null,
  });
  draft.changes.push(createdChange(subjectOf(made), toAmountText(amount, currency)));
}

/** Returns the payment that sync recorded for an invoice, even if it got another reference here. */
function findSynced(
  draft: Draft,
  reference: string,
  invoice: StoredInvoice | undefined,
): StoredPayment | undefined {
  const found = [draft.payment(reference), invoice && draft.collectedOf(invoice)];
  return found.find((payment) => payment?.source === 'stripe');
}

type Named = Pick<Collected, 'paymentIntentId' | 'moneyIds'>;

const toMoneyColumns = ({ paymentIntentId, moneyIds }: Named) => ({
  stripe_payment_intent_id: paymentIntentId,
  stripe_charge_id: moneyIds.find((id) => !isIntent(id)) ?? null,
});

/**
 * Adds the payment intent or the charge of an invoice to the payment that sync recorded without it. Events since
 * 2025-03-31.basil name neither, but Stripe's lists and single invoices do. The ids are not logged as a change, because
 * no event could have reported them. If an API client or staff have meanwhile recorded one of these ids, the same money
 * counts twice, so staff get a task.
 */
export function addMoneyIds(draft: Draft, invoice: ProviderInvoice): void {
  const { id, moneyIds } = invoice;
  if (!namesCollected(invoice)) return;
  const stored = findSynced(draft, id, draft.row('invoice', id));
  if (!stored) return;
  const { stripe_payment_intent_id: intent, stripe_charge_id: charge } = stored;
  const told = toMoneyColumns(invoice);
  // The charge of another payment intent is not that of the stored one.
  if (intent !== null && intent !== told.stripe_payment_intent_id) return;
  const learned = { ...told, stripe_charge_id: charge ?? told.stripe_charge_id };
  if (learned.stripe_payment_intent_id === intent && learned.stripe_charge_id === charge) return;
  draft.payments.put({ ...stored, ...learned });
  const text = toAmountText(stored.provider_amount ?? stored.amount, invoice.currency);
  for (const twin of moneyIds.flatMap((one) => draft.payment(one) ?? [])) {
    const task: StaffTask = {
      kind: 'payment_differs',
      subject: `${id} ${twin.payment_reference}`,
      message: `Payments ${stored.id} and ${twin.id} record the same money: Stripe collected ${text} for invoice ${invoice.number ?? id}. Delete payment ${twin.id}.`,
      entity: 'payment',
      entity_id: twin.id,
    };
    draft.tell(task, subjectOf(twin));
  }
}

/** Returns whether an invoice names a payment intent or a charge with which Stripe may have collected it. */
export const namesCollected = ({ amountPaid, moneyIds }: ProviderInvoice): boolean =>
  Number(amountPaid) > 0 && moneyIds.length > 0;

/**
 * Finds payments by API clients or staff that may already count the money that Stripe collected for an invoice. Their
 * reference is the invoice's Stripe id or one of `moneyIds`, or they are recorded for the invoice under another Stripe
 * id and `isMoneyOf` accepts them.
 */
function findRecorded(
  draft: Draft,
  reference: string,
  invoice: StoredInvoice,
  moneyIds: string[],
): StoredPayment[] {
  const named = [reference, ...moneyIds].flatMap((id) => draft.payment(id) ?? []);
  const others = draft.recordedOf(invoice).filter((one) => !named.includes(one));
  return [...named, ...others.filter((one) => isMoneyOf(draft, one, reference, invoice))];
}

/**
 * Returns whether a payment that staff or an API client recorded paid this invoice at Stripe. If its reference is a
 * payment intent, asks Stripe which invoice the intent paid. To avoid counting money twice, also returns true if Stripe
 * does not answer, or if the reference is a charge. The invoice of a charge is unknown, because an event contains only
 * the last of several charges.
 */
function isMoneyOf(
  draft: Draft,
  { id, payment_reference }: StoredPayment,
  reference: string,
  { collected_by_payment_id, stripe_customer_id }: StoredInvoice,
): boolean {
  if (id === collected_by_payment_id || !isIntent(payment_reference)) return true;
  const asked = draft.ask('invoicePaid', payment_reference, stripe_customer_id ?? '');
  return asked.state !== 'found' || asked.object === reference;
}

/**
 * Keeps the payments that staff or API clients recorded and adds none, so that no money counts twice. If their sum
 * differs from the amount that Stripe collected, adds a staff task. If the amounts are equal, closes the task.
 */
function leaveRecorded(
  draft: Draft,
  recorded: StoredPayment[],
  invoice: StoredInvoice,
  amount: string,
): void {
  const { id, stripe_invoice_id: stripeId, number, currency } = invoice;
  const [first] = recorded;
  if (!first) return;
  const named = recorded.map((one) => `${one.id} (${one.payment_reference})`).join(' and ');
  draft.warnings.add(`payment ${named} already counts what was collected for ${stripeId}`);
  if (!recorded.some((one) => one.id === invoice.collected_by_payment_id)) {
    draft.invoices.put({ ...invoice, collected_by_payment_id: first.id });
  }
  const isIts = (one: StoredPayment) =>
    one.invoice_id === id && one.currency === currency && ['completed', 'refunded'].includes(one.status);
  const counted = recorded.filter(isIts).reduce((sum, one) => sum + toThousandths(one.amount), 0);
  const key = { kind: 'payment_differs' as const, subject: `${stripeId} ${first.payment_reference}` };
  if (counted === toThousandths(amount)) {
    if (draft.isTold(key)) draft.tasksOver.push(key);
    return;
  }
  const [told, ours] = [amount, fromThousandths(counted)].map((sum) => toAmountText(sum, currency));
  // Name the payments by id only. A reference may name a person, and assistants see messages whose names are masked.
  const ids = recorded.map(({ id }) => id).join(' and ');
  const task: StaffTask = {
    ...key,
    message: `Stripe collected ${told} for invoice ${number ?? stripeId}, of which payment ${ids} counts ${ours}. Correct the payment, or delete it: the next reconciliation then records Stripe's.`,
    entity: 'payment',
    entity_id: first.id,
  };
  draft.tell(task, subjectOf(first));
}

/**
 * Corrects the amount of a payment that sync recorded, unless a person changed it. A changed amount also corrects the
 * date, unless a person changed the date. Also settles the invoice if a person moved the payment to one of our own.
 *
 * @param isExact false if the amount may include money paid outside Stripe; the payment is then never lowered
 */
function correct(
  draft: Draft,
  stored: StoredPayment,
  amount: string,
  payment_date: string,
  isExact: boolean,
): void {
  const isUntouched = Number(stored.amount) === Number(stored.provider_amount);
  const difference = Number(amount) - Number(stored.amount);
  if (!isUntouched || difference === 0 || (difference < 0 && !isExact)) return;
  const isOwnDate = stored.payment_date === stored.provider_payment_date;
  const values = {
    amount,
    provider_amount: amount,
    ...(isOwnDate && { payment_date, provider_payment_date: payment_date }),
  };
  settleMoneyBack(draft, stored, { values });
}

function subjectOf({ id, payment_reference }: StoredPayment) {
  return { entity: 'payment' as const, entity_id: id, stripe_id: payment_reference };
}
