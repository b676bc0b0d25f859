import type { World } from '../world';
import type { Calendar } from './calendar';

type StripeCustomerId = string;

/** What filling the world needs from one part to the next. */
export interface Filling {
  world: World;
  calendar: Calendar;
  /** The Stripe customer of one of ours: this one where it is known, else its first, else a new one. */
  customerOf(ourId: number, stripeId: string | null): StripeCustomerId;
}
