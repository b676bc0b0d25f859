import { AppError } from '@/lib/errors';
import type { Hands } from './hands';
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
  /** By Stripe's id of an item, the service that staff linked; null: none, they said. */
  linked: Map<string, number | null>;
  /** By id of a service, the dates that people gave it. */
  dated: Map<number, string[]>;
}

export const noDeeds = ({ ours }: Setup): Deeds => ({
  deleted: new Set(),
  freed: new Set(),
  written: new Map(),
  linked: new Map(),
  dated: new Map(ours.flatMap(({ services }) => services.map(({ id }) => [id, [SERVICE_DATE]]))),
});

interface Here {
  hands: Hands;
  setup: Setup;
  deeds: Deeds;
  /** Whether an event is still to tell of the payment of an invoice. */
  isAwaited(stripeInvoiceId: string): boolean;
}

/** Does something here, as a program or staff would. @returns what; null where it does not fit */
export async function doHere(
  { hands, setup, deeds, isAwaited }: Here,
  { kind, a, b }: Step,
): Promise<string | null> {
  if (kind === 'confirmLink') return confirmLink(hands, setup, deeds, a, b);
  if (kind === 'linkItem') return linkItem(hands, setup, deeds, a, b);
  if (kind === 'dateService') return dateService(hands, setup, deeds, a, b);
  if (kind === 'enterPayment') return enterPayment();
  const isFree = (id: string) => kind === 'deletePayment' || !isStray(id);
  const payments = (await hands.payments()).filter(({ payment_reference: id }) => isFree(id));
  const late = payments.filter(({ payment_reference: id }) => isAwaited(id));
  const found = pick(late.length > 0 ? late : payments, a);
  if (!found) return null;
  if (kind === 'deletePayment') {
    await hands.deletePayment(found.id);
    deeds.written.delete(found.id);
    (found.source === 'stripe' ? deeds.deleted : deeds.freed).add(found.payment_reference);
    return `payment ${found.payment_reference} is deleted here`;
  }
  const isStripes = Number(found.provider_amount) === 1 + b;
  const status = b === 0 && !isStripes ? 'refunded' : 'completed';
  await hands.updatePayment(found.id, { amount: 1 + b, status });
  // With the amount that Stripe reported it is Stripe's, which may still correct it.
  if (isStripes) deeds.written.delete(found.id);
  else note(found.id, 1 + b, found.payment_reference, found.source);
  return `payment ${found.payment_reference} is changed here to ${1 + b}`;

  async function enterPayment(): Promise<string | null> {
    const invoices = await hands.invoices();
    const invoice = pick(
      invoices.filter(({ stripe_invoice_id }) => !isStray(stripe_invoice_id)),
      a,
    );
    if (!invoice?.stripe_invoice_id) return null;
    const payment_reference = b % 2 === 0 ? invoice.stripe_invoice_id : `API-${invoice.id}`;
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

  function note(id: number, amount: number, reference: string, source: string): void {
    deeds.written.set(id, { amount: amount.toFixed(3), reference, source });
  }
}
