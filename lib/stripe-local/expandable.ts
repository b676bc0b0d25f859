import type { WorldObject } from './model';
import type { Shape } from './render/shape';

export type Kind = WorldObject['object'];

interface Expandable {
  /** Where it stands within its object. */
  path: string;
  /** What stands there once it is expanded; null: a plain value. */
  becomes: Kind | 'invoice_payments' | null;
  in(shape: Shape): boolean;
}

const always = () => true;
const basil = (shape: Shape) => shape.basil;
const older = (shape: Shape) => !shape.basil;

/** What each object can expand, and becomes by it. */
export const EXPANDABLE: Record<Kind, Expandable[]> = {
  customer: [],
  subscription: [
    { path: 'customer', becomes: 'customer', in: always },
    { path: 'latest_invoice', becomes: 'invoice', in: always },
  ],
  invoice: [
    { path: 'customer', becomes: 'customer', in: always },
    { path: 'payments', becomes: 'invoice_payments', in: basil },
    { path: 'amount_paid_off_stripe', becomes: null, in: (shape) => shape.offStripeAmount },
    {
      path: 'parent.subscription_details.subscription',
      becomes: 'subscription',
      in: (shape) => shape.basil || shape.acacia,
    },
    { path: 'subscription', becomes: 'subscription', in: older },
    { path: 'payment_intent', becomes: 'payment_intent', in: older },
  ],
  invoice_payment: [
    { path: 'invoice', becomes: 'invoice', in: always },
    { path: 'payment.payment_intent', becomes: 'payment_intent', in: always },
  ],
  payment_intent: [
    { path: 'customer', becomes: 'customer', in: always },
    { path: 'invoice', becomes: 'invoice', in: older },
  ],
  'checkout.session': [
    { path: 'customer', becomes: 'customer', in: always },
    { path: 'subscription', becomes: 'subscription', in: always },
    { path: 'invoice', becomes: 'invoice', in: always },
  ],
  charge: [
    { path: 'customer', becomes: 'customer', in: always },
    { path: 'payment_intent', becomes: 'payment_intent', in: always },
    { path: 'invoice', becomes: 'invoice', in: older },
  ],
  refund: [
    { path: 'charge', becomes: 'charge', in: always },
    { path: 'payment_intent', becomes: 'payment_intent', in: always },
    { path: 'customer', becomes: 'customer', in: always },
  ],
  dispute: [
    { path: 'charge', becomes: 'charge', in: always },
    { path: 'payment_intent', becomes: 'payment_intent', in: always },
  ],
  credit_note: [
    { path: 'customer', becomes: 'customer', in: always },
    { path: 'invoice', becomes: 'invoice', in: always },
    { path: 'refund', becomes: 'refund', in: older },
  ],
};
