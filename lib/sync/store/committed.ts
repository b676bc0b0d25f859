import type { FieldChange } from '@/db/schema';
import type { Plan } from '../decide/plan';
import type { StoredOutcome } from './rows';

export interface EventEntry {
  id: string;
  type: string;
  api_version: string | null;
  livemode: boolean;
  stripe_created: Date;
  object_id: string | null;
  stripe_customer_id: string | null;
  payload: string;
  /** The Stripe customers that its payload tells of; none where it holds nothing personal. */
  owners: string[];
  outcome: StoredOutcome;
  processed_at: Date;
  warnings: string[];
  changes: FieldChange[];
  /** Outcome and attempts as the decision saw them; null: it was new. */
  before: string | null;
}

/** The calendar date on which something is booked, and whose calendar that is. */
export interface BookedOn {
  today: string;
  timeZone: string;
}

export interface Commit {
  plan: Plan;
  events: EventEntry[];
  runId: number | null;
  /** Asked when it is written, which may be long after the decision. */
  bookedOn(): BookedOn;
}
