import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { eventOutcome } from '@/db/schema';
import { dateRange, isInOrder, oneOf, textLine, WRONG_ORDER } from '../../fields';
import { HANDLED_EVENT_TYPES, THIN_WARNING } from './event-types';

export const OTHER_TYPES = 'other';
/** Ignored because they came from Stripe's other mode than the keys are of. */
export const OTHER_MODE = 'other_mode';

/** Ignored because they only name their object. */
export const THIN = 'thin';

/** Of `stripe_events`. */
export const isThin = sql`warnings @> ${JSON.stringify([THIN_WARNING])}::jsonb`;

export const EVENT_TYPES = [...HANDLED_EVENT_TYPES, OTHER_TYPES];
export const EVENT_OUTCOMES = [...eventOutcome.enumValues, OTHER_MODE, THIN] as const;

export const eventFilters = z
  .object({
    type: z.enum(EVENT_TYPES, 'must be one of the types listed').optional(),
    outcome: oneOf(EVENT_OUTCOMES).optional(),
    /** Stripe's id of an event, a customer, or the object an event is about. */
    id: textLine(255).optional(),
    ...dateRange,
  })
  .refine(isInOrder, WRONG_ORDER);
export type EventFilters = z.infer<typeof eventFilters>;
