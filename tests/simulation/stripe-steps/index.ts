import type { Step } from '../plan';
import { CHECKOUT_STEPS } from './checkouts';
import { CUSTOMER_STEPS } from './customers';
import { INVOICE_STEPS } from './invoices';
import { MONEY_BACK_STEPS } from './money-back';
import { ODD_STEPS } from './odd';
import type { Scene } from './scene';
import type { Steps } from './steps';
import { SUBSCRIPTION_STEPS } from './subscriptions';

const STEPS: Steps = {
  ...SUBSCRIPTION_STEPS,
  ...CHECKOUT_STEPS,
  ...INVOICE_STEPS,
  ...MONEY_BACK_STEPS,
  ...CUSTOMER_STEPS,
  ...ODD_STEPS,
};

/** Does something at Stripe. @returns what, as a sentence; null where it does not fit */
export function doAtStripe(scene: Scene, step: Step): string | null {
  return STEPS[step.kind]?.(scene, step) ?? null;
}
