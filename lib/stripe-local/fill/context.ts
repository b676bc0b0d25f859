import type { World } from '../world';
import type { Calendar } from './calendar';

type StripeCustomerId = string;

/** What filling the world needs from one part to the next. */
export interface Filling {
  world: World;
  calendar: Calendar;
  /** The Stripe customer of a customer: the given one if it is known, else its first one, else a new one. */
  customerOf(ourId: number, stripeId: string | null): StripeCustomerId;
}
