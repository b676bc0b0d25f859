import { AppError } from '@/lib/errors';
import type { Deeds, Setup } from './oracle/story';
import type { Step } from './plan';
import { SERVICE_DATE } from './setup';
import type { Hands, NewPayment } from './stage';
import { isStray } from './strays';
import type { ItemRow, Tables } from './tables';

export const noDeeds = ({ ours }: Setup): Deeds => ({
  deleted: new Set(),
  freed: new Set(),
  written: new Map(),
  renamed: new Map(),
  statuses: new Map(),
  linked: new Map(),
  dated: new Map(
    ours.flatMap(({ services }) =>
      services.map(({ id, ends_on }) => [
        id,
        { next_billing_date: [SERVICE_DATE], ends_on: ends_on === null ? [] : [ends_on] },
      ]),
    ),
  ),
});

/** Returns the tables with the first reference of each payment. Nothing else may depend on a changed reference. */
export function withoutRenames(tables: Tables, { renamed }: Deeds): Tables {
  const payments = tables.payments.map((row) => ({
    ...row,
    payment_reference: renamed.get(row.id) ?? row.payment_reference,
  }));
  return { ...tables, payments };
}

interface OwnStepContext {
  hands: Hands;
  tables(): Promise<Tables>;
  setup: Setup;
  deeds: Deeds;
  /** Refunds the part of an invoice's payment that Stripe has not refunded yet. */
  refundAtStripe(stripeInvoiceId: string): void;
  /**
   * Collects money at Stripe without an invoice. @returns the payment intent's id, or null without a Stripe customer
   */
  collectAtStripe(a: number): string | null;
  /** Returns the payment intents of a Stripe invoice with their amounts in major units. */
  intentsOf(stripeInvoiceId: string): { id: string; amount: number }[];
  /** Returns whether an event reports the payment of an invoice but has not arrived yet. */
  isAwaited(stripeInvoiceId: string): boolean;
}

/** Performs a step by staff or by a program. @returns a sentence for the log, or null if the step does not apply */
export async function performOwnStep(here: OwnStepContext, step: Step): Promise<string | null> {
  switch (step.kind) {
    case 'confirmLink':
      return confirmLink(here, step);
    case 'linkItem':
      return linkItem(here, step);
    case 'dateService':
      return dateService(here, step);
    case 'enterPayment':
      return enterPayment(here, step);
    case 'payOwn':
      return payOwn(here, step);
    default:
      return changePayment(here, step);
  }
}

export function pick<T>(from: T[], at: number): T | undefined {
  return from[at % Math.max(1, from.length)];
}

/** Returns true if the work succeeds, and false if it throws an `AppError` (with this code, if given). */
async function isDone(work: () => Promise<unknown>, code?: string): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof AppError && (code === undefined || error.code === code)) return false;
    throw error;
  }
}

/** Acts as staff: confirms the customer of a Stripe customer, or links the Stripe customer to another one. */
async function confirmLink(
  { hands, tables, setup, deeds }: OwnStepContext,
  { a, b }: Step,
): Promise<string | null> {
  const link = pick((await tables()).links, a);
  const current = setup.ours.find(({ id }) => id === link?.customer_id);
  const target = b % 2 === 0 && current ? current : pick(setup.ours, b);
  const made = setup.stripeCustomers.find(({ customer }) => customer.id === link?.stripe_customer_id);
  if (!link || !target || !made) return null;
  const { stripe_customer_id: id, customer_id: from } = link;
  if (!(await isDone(() => hands.linkStripeCustomer(id, { from, to: target.id })))) return null;
  if (made.staff !== null && made.staff !== target.id) made.formerly.push(made.staff);
  made.staff = target.id;
  // The links that staff gave to the Stripe customer's items end, unless the linked service belongs to the new
  // customer.
  const { items, subscriptions } = await tables();
  const own = new Set(
    subscriptions.filter((row) => row.stripe_customer_id === id).map((subscription) => subscription.id),
  );
  for (const { subscription_id, stripe_subscription_item_id } of items) {
    const item = own.has(subscription_id) ? (stripe_subscription_item_id ?? '') : '';
    const chosen = deeds.linked.get(item) ?? null;
    if (chosen !== null && !target.services.some((service) => service.id === chosen)) {
      deeds.linked.delete(item);
    }
  }
  return `staff link ${id} to ${target.number}`;
}

async function linkItem(
  { hands, tables, setup, deeds }: OwnStepContext,
  { a, b }: Step,
): Promise<string | null> {
  const { items, subscriptions } = await tables();
  const owners = new Map(subscriptions.map((row) => [row.id, row.customer_id]));
  const withServices = setup.ours.filter(({ services }) => services.length > 0);
  const ownerOf = (item: ItemRow) => withServices.find(({ id }) => id === owners.get(item.subscription_id));
  const isStripes = ({ stripe_subscription_item_id: id }: ItemRow) => id !== null && !isStray(id);
  const found = pick(
    items.filter((item) => isStripes(item) && ownerOf(item)).sort((one, other) => one.id - other.id),
    a,
  );
  const own = found && ownerOf(found);
  const service = (b < 2 ? undefined : pick(own?.services ?? [], b)) ?? null;
  const { id, stripe_subscription_item_id: item, customer_service_id: current } = found ?? {};
  if (!id || !item || current === (service?.id ?? null)) return null;
  if (!(await isDone(() => hands.linkItem(id, service?.number ?? null)))) return null;
  // An event may have linked the item to the same service just before, so that staff changed nothing.
  if (!(await tables()).items.some((one) => one.id === id && one.linked_by_staff)) return null;
  deeds.linked.set(item, service?.id ?? null);
  return `staff link ${item} to ${service ? `service ${service.id}` : 'no service'}`;
}

async function dateService(
  { hands, setup, deeds }: OwnStepContext,
  { a, b, c }: Step,
): Promise<string | null> {
  const services = setup.ours.flatMap((own) => own.services);
  const service = pick(services, a);
  if (!service) return null;
  const date = `2021-01-0${1 + b}`;
  const column = c % 2 === 0 ? 'next_billing_date' : 'ends_on';
  await hands.dateService(service.id, { [column]: date });
  deeds.dated.get(service.id)?.[column].push(date);
  return `staff give service ${service.id} the ${column} ${date}`;
}

/**
 * Records a payment of a Stripe invoice as a program would. Often repeats a payment that was deleted before, or uses
 * the id of the payment intent as reference.
 */
async function enterPayment(
  { hands, tables, deeds, intentsOf }: OwnStepContext,
  { a, b, c }: Step,
): Promise<string | null> {
  // The reference of a renamed payment is free, so that a program could record the same money a second time.
  const renamed = [...deeds.renamed.values()];
  const invoices = (await tables()).invoices.filter(
    ({ stripe_invoice_id: id }) => id && !isStray(id) && !renamed.includes(id),
  );
  const again = invoices.filter(({ stripe_invoice_id: id }) => id && c % 2 === 0 && deeds.deleted.has(id));
  const invoice = pick(again.length > 0 ? again : invoices, a);
  if (!invoice?.stripe_invoice_id) return null;
  const { id: invoice_id, customer_id } = invoice;
  const isStripes = again.length > 0 || b % 2 === 0;
  const intent =
    again.length === 0 && c % 4 !== 0 ? pick(intentsOf(invoice.stripe_invoice_id), b) : undefined;
  const payment_reference = intent?.id ?? (isStripes ? invoice.stripe_invoice_id : `API-${invoice_id}`);
  const amount = intent && c % 4 !== 1 ? intent.amount : 5 + b;
  // The payment is refused for a draft or cancelled invoice, or if its reference is taken or its money is already
  // counted.
  const isEntered = await record(hands, deeds, { invoice_id, customer_id, amount, payment_reference });
  return isEntered ? `a payment is entered here as ${payment_reference}` : null;
}

/**
 * Records a payment of one of our own invoices through the API: in cash, or with the id of the Stripe payment intent
 * that collected it, or by mistake with the id of a payment intent that collected an invoice of Stripe. Sometimes two
 * payments are recorded at the same time.
 */
async function payOwn(
  { hands, tables, deeds, collectAtStripe, intentsOf }: OwnStepContext,
  { a, b, c }: Step,
): Promise<string | null> {
  const { invoices } = await tables();
  const invoice = pick(
    invoices.filter(({ stripe_invoice_id: id }) => id === null),
    a,
  );
  if (!invoice) return null;
  const { id: invoice_id, customer_id } = invoice;
  const wrong =
    c === 6
      ? pick(
          invoices.flatMap(({ stripe_invoice_id: id }) => intentsOf(id ?? '')),
          b,
        )
      : undefined;
  const payment_reference = wrong?.id ?? ((c % 2 === 0 && collectAtStripe(b)) || `CASH-${invoice_id}-${b}`);
  const amount = payment_reference.startsWith('pi_') ? 5 : 25 * (b + 1);
  const references = c % 4 === 3 ? [payment_reference, `${payment_reference}/2`] : [payment_reference];
  // A payment is refused if the same cash payment was recorded before.
  const paid = await Promise.all(
    references.map((reference) =>
      record(hands, deeds, { invoice_id, customer_id, amount, payment_reference: reference }),
    ),
  );
  return paid.includes(true)
    ? `invoice ${invoice_id} of our own is paid by ${references.join(' and ')}`
    : null;
}

function record(hands: Hands, deeds: Deeds, payment: Omit<NewPayment, 'payment_date'>): Promise<boolean> {
  const { amount, payment_reference: reference } = payment;
  return isDone(async () => {
    const { after } = await hands.recordPayment({ ...payment, payment_date: '2026-03-10' });
    deeds.written.set(Number(after?.id), { amount: amount.toFixed(3), reference, source: 'api' });
  });
}

/** Deletes, refunds, renames or changes a payment as staff, preferably one whose event has not arrived yet. */
async function changePayment(
  { hands, tables, deeds, isAwaited, refundAtStripe }: OwnStepContext,
  { kind, a, b, c }: Step,
): Promise<string | null> {
  const isFree = (id: string) => kind === 'deletePayment' || !isStray(id);
  const payments = (await tables()).payments.filter(({ payment_reference: id }) => isFree(id));
  const late = payments.filter(({ payment_reference: id }) => isAwaited(id));
  const found = pick(late.length > 0 ? late : payments, a);
  if (!found) return null;
  const { id, payment_reference: reference, source } = found;
  if (kind === 'deletePayment') {
    await hands.deletePayment(id);
    deeds.written.delete(id);
    deeds.statuses.delete(id);
    (source === 'stripe' ? deeds.deleted : deeds.freed).add(reference);
    return `payment ${reference} is deleted here`;
  }
  if (kind === 'refundHere') {
    // Sometimes staff also refund the payment at Stripe, before or after they record the refund here.
    if (c % 4 === 1) refundAtStripe(reference);
    // The refund is refused if the currency does not allow the amount: the local Stripe can collect a part of a króna.
    const isRefunded = await isDone(
      () => hands.updatePayment(id, { status: 'refunded' }),
      'validation_failed',
    );
    if (!isRefunded) return null;
    if (c % 4 === 2) refundAtStripe(reference);
    deeds.statuses.set(id, 'refunded');
    return `payment ${reference} is refunded here`;
  }
  if (c > 4 && source === 'stripe') {
    const old = deeds.renamed.get(id);
    await hands.updatePayment(id, { payment_reference: old ?? `RENAMED-${id}` });
    if (old === undefined) deeds.renamed.set(id, reference);
    else deeds.renamed.delete(id);
    return `the reference of payment ${reference} is changed here`;
  }
  const amount = 1 + b;
  const isStripes = Number(found.provider_amount) === amount;
  const status = b === 0 && !isStripes ? 'refunded' : 'completed';
  await hands.updatePayment(id, { amount, status });
  deeds.statuses.set(id, status);
  // If the amount is again the one that Stripe reported, sync may correct the payment.
  if (isStripes) deeds.written.delete(id);
  else deeds.written.set(id, { amount: amount.toFixed(3), reference, source });
  return `payment ${reference} is changed here to ${amount}`;
}
