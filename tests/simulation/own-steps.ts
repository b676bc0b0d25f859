import { AppError } from '@/lib/errors';
import type { Hands, ServiceDate } from './hands';
import { pick } from './pick';
import type { Step } from './plan';
import { SERVICE_DATE, type Setup } from './setup';
import { confirmLink, dateService, linkItem } from './staff-steps';
import { isStray } from './strays';

/** What people and programs did here, which sync must leave as it is. */
export interface Deeds {
  /** References of Stripe's payments that were deleted. */
  deleted: Set<string>;
  /** References of other payments that were deleted: Stripe's own may have been left out for them. */
  freed: Set<string>;
  /** By id, payments as somebody left them. */
  written: Map<number, { amount: string; reference: string; source: string }>;
  /** By id, payments whose status somebody wrote, and which. */
  statuses: Map<number, string>;
  /** By Stripe's id of an item, the service that staff linked; null: none, they said. */
  linked: Map<string, number | null>;
  /** By id of a service, the dates that people gave it. */
  dated: Map<number, Record<ServiceDate, string[]>>;
}

export const noDeeds = ({ ours }: Setup): Deeds => ({
  deleted: new Set(),
  freed: new Set(),
  written: new Map(),
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

interface Here {
  hands: Hands;
  setup: Setup;
  deeds: Deeds;
  /** Refunds at Stripe what is left of the payment of an invoice, if it can be. */
  refundAtStripe(stripeInvoiceId: string): void;
  /** Collects at Stripe for no invoice there. @returns its payment intent; null where nobody could pay */
  collectAtStripe(a: number): string | null;
  /** Whether an event is still to tell of the payment of an invoice. */
  isAwaited(stripeInvoiceId: string): boolean;
}

/** Does something here, as a program or staff would. @returns what; null where it does not fit */
export async function doHere(
  { hands, setup, deeds, isAwaited, refundAtStripe, collectAtStripe }: Here,
  { kind, a, b, c }: Step,
): Promise<string | null> {
  if (kind === 'confirmLink') return confirmLink(hands, setup, deeds, a, b);
  if (kind === 'linkItem') return linkItem(hands, setup, deeds, a, b);
  if (kind === 'dateService') return dateService(hands, setup, deeds, a, b, c);
  if (kind === 'enterPayment') return enterPayment();
  if (kind === 'payOwn') return payOwn();
  const isFree = (id: string) => kind === 'deletePayment' || !isStray(id);
  const payments = (await hands.payments()).filter(({ payment_reference: id }) => isFree(id));
  const late = payments.filter(({ payment_reference: id }) => isAwaited(id));
  const found = pick(late.length > 0 ? late : payments, a);
  if (!found) return null;
  if (kind === 'deletePayment') {
    await hands.deletePayment(found.id);
    deeds.written.delete(found.id);
    deeds.statuses.delete(found.id);
    (found.source === 'stripe' ? deeds.deleted : deeds.freed).add(found.payment_reference);
    return `payment ${found.payment_reference} is deleted here`;
  }
  if (kind === 'refundHere') {
    // Now and then they refund it at Stripe, too, and record it before or after that.
    if (c % 4 === 1) refundAtStripe(found.payment_reference);
    if (!(await fits(() => hands.updatePayment(found.id, { status: 'refunded' })))) return null;
    if (c % 4 === 2) refundAtStripe(found.payment_reference);
    deeds.statuses.set(found.id, 'refunded');
    return `payment ${found.payment_reference} is refunded here`;
  }
  const isStripes = Number(found.provider_amount) === 1 + b;
  const status = b === 0 && !isStripes ? 'refunded' : 'completed';
  await hands.updatePayment(found.id, { amount: 1 + b, status });
  deeds.statuses.set(found.id, status);
  // With the amount that Stripe reported it is Stripe's, which may still correct it.
  if (isStripes) deeds.written.delete(found.id);
  else note(found.id, 1 + b, found.payment_reference, found.source);
  return `payment ${found.payment_reference} is changed here to ${1 + b}`;

  async function enterPayment(): Promise<string | null> {
    const invoices = (await hands.invoices()).filter(({ stripe_invoice_id: id }) => id && !isStray(id));
    // Now and then anew, after it was deleted.
    const again = invoices.filter(({ stripe_invoice_id: id }) => id && c % 2 === 0 && deeds.deleted.has(id));
    const invoice = pick(again.length > 0 ? again : invoices, a);
    if (!invoice?.stripe_invoice_id) return null;
    const isStripes = again.length > 0 || b % 2 === 0;
    const payment_reference = isStripes ? invoice.stripe_invoice_id : `API-${invoice.id}`;
    const { id: invoice_id, customer_id } = invoice;
    const input = { invoice_id, customer_id, amount: 5 + b, payment_date: '2026-03-10', payment_reference };
    try {
      const { id } = await hands.recordPayment(input);
      note(id, 5 + b, payment_reference, 'api');
      return `a payment is entered here as ${payment_reference}`;
    } catch (error) {
      if (error instanceof AppError) return null; // a draft, or cancelled; or the reference is taken
      throw error;
    }
  }

  /** What Stripe collected for an invoice of our own, named after its payment intent; else it was paid in cash. */
  async function payOwn(): Promise<string | null> {
    const own = (await hands.invoices()).filter(({ stripe_invoice_id }) => stripe_invoice_id === null);
    const invoice = pick(own, a);
    if (!invoice) return null;
    const { id: invoice_id, customer_id } = invoice;
    const payment_reference = (c % 2 === 0 && collectAtStripe(b)) || `CASH-${invoice_id}-${b}`;
    const amount = payment_reference.startsWith('pi_') ? 5 : 25 * (b + 1);
    const input = { invoice_id, customer_id, amount, payment_date: '2026-03-10', payment_reference };
    try {
      const { id } = await hands.recordPayment(input);
      note(id, amount, payment_reference, 'api');
      return `invoice ${invoice_id} of our own is paid by ${payment_reference}`;
    } catch (error) {
      if (error instanceof AppError) return null; // paid in cash like that before
      throw error;
    }
  }

  function note(id: number, amount: number, reference: string, source: string): void {
    deeds.written.set(id, { amount: amount.toFixed(3), reference, source });
  }
}

/** False for an amount that its currency does not have, as these worlds pay króna. */
async function fits(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'validation_failed') return false;
    throw error;
  }
}
