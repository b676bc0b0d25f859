import { type Collected, isCollected } from '../charges';
import type { Invoice } from '../model';
import { getFrom, type World, WorldError } from '../world';

/** A payment by its intent, or by the invoice that it paid. */
export type Paid = { paymentIntent: string } | { invoice: string };

/**
 * The payment meant. Of an invoice that was paid in parts, the first of which enough is left.
 *
 * @param leftOf how much of a payment can still be given or taken back
 * @throws WorldError where Stripe collected nothing
 */
export function collectedPayment(
  world: World,
  paid: Paid,
  leftOf: (payment: Collected) => number,
  amount = 1,
): Collected {
  if ('paymentIntent' in paid) {
    const intent = getFrom(world.paymentIntents, paid.paymentIntent, 'payment_intent');
    if (isCollected(intent)) return intent;
    throw new WorldError(`The payment intent ${intent.id} has no successful charge.`);
  }
  const invoice = getFrom(world.invoices, paid.invoice, 'invoice');
  const payments = collectedFor(world, invoice);
  const enough = payments.find((payment) => leftOf(payment) >= amount) ?? payments[0];
  if (!enough)
    throw new WorldError(`Stripe collected nothing for the invoice ${invoice.number ?? invoice.id}.`);
  return enough;
}

/** What Stripe itself collected for an invoice, oldest first; nothing where it was paid off Stripe. */
export function collectedFor(world: World, invoice: Invoice): Collected[] {
  return [...world.invoicePayments.where('invoice', invoice.id)].flatMap(({ status, payment }) => {
    if (status !== 'paid' || payment.type !== 'payment_intent') return [];
    const intent = world.paymentIntents.get(payment.payment_intent);
    return intent && isCollected(intent) ? [intent] : [];
  });
}

/** @throws WorldError in Stripe's words */
export function requirePositive(amount: number): void {
  if (!Number.isInteger(amount) || amount < 1) throw new WorldError('Invalid positive integer');
}
