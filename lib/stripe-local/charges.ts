import type { PaymentIntent } from './model';
import type { Charge, Dispute, Refund } from './model-returns';
import type { World } from './world';

/** A payment intent that has collected. */
export type Collected = PaymentIntent & { readonly latestCharge: string };

export function isCollected(intent: PaymentIntent): intent is Collected {
  return intent.status === 'succeeded' && intent.latestCharge !== null;
}

/** The charge as it stands now, after what was refunded and disputed of it. */
export function chargeOf(world: World, intent: Collected): Charge {
  return {
    object: 'charge',
    id: intent.latestCharge,
    created: intent.created,
    amount: intent.amountReceived,
    amountRefunded: refundedOf(world, intent.latestCharge),
    disputed: !world.disputes.where('charge', intent.latestCharge).next().done,
    customer: intent.customer,
    currency: intent.currency,
    paymentIntent: intent.id,
    invoice: intent.invoice,
  };
}

export function findCharge(world: World, id: string): Charge | undefined {
  for (const intent of world.paymentIntents.values()) {
    if (intent.latestCharge === id && isCollected(intent)) return chargeOf(world, intent);
  }
  return undefined;
}

/** What was refunded of a charge, or is on its way back. */
export function refundedOf(world: World, charge: string): number {
  let sum = 0;
  for (const refund of world.refunds.where('charge', charge)) if (isLive(refund)) sum += refund.amount;
  return sum;
}

/** What disputes took of a charge, or may still take. */
export function disputedOf(world: World, charge: string): number {
  let sum = 0;
  for (const { status, amount } of world.disputes.where('charge', charge)) {
    if (!['won', 'prevented', 'warning_closed'].includes(status)) sum += amount;
  }
  return sum;
}

/** A failed or canceled refund gave its money back to us. */
export function isLive({ status }: Refund): boolean {
  return status !== 'failed' && status !== 'canceled';
}

/** An inquiry takes nothing yet, so that a refund may still answer it. */
export function isChargeRefundable({ status }: Dispute): boolean {
  return status.startsWith('warning_');
}
