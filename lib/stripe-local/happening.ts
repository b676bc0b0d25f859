import { ControlError, type Target } from './find-target';
import type { WorldObject } from './model';

export interface Happening extends Target {
  /** Only of the events about invoices and the money that was paid for them. */
  invoiceNumber: string | null;
  /** One of those in `STATUSES`; left out: the usual one. */
  status?: string | undefined;
}

export interface Happened {
  /** What was done, as a sentence. */
  action: string;
  objects: WorldObject[];
}

/** Which statuses one may ask for, by event type; the first is the usual one. */
export const STATUSES = {
  'refund.created': ['succeeded', 'pending', 'requires_action'],
  'charge.refunded': ['succeeded', 'pending', 'requires_action'],
  'refund.updated': ['succeeded', 'canceled'],
  'charge.dispute.created': ['needs_response', 'warning_needs_response', 'lost'],
  'charge.dispute.closed': ['lost', 'won', 'warning_closed'],
} as const;

/** @throws ControlError 422 where something was asked for that does not go with the event */
export function refuseMisplaced(type: string, { invoiceNumber, status }: Happening): void {
  if (invoiceNumber !== null && /^(checkout|customer)\./.test(type)) {
    throw new ControlError(
      422,
      `An invoice number goes with the events about invoices and their money, not with ${type}.`,
    );
  }
  if (status !== undefined && !(type in STATUSES)) {
    throw new ControlError(422, `No status can be asked for with ${type}.`);
  }
}

type Statuses = typeof STATUSES;

/** @throws ControlError 422 where the one asked for does not go with the event */
export function statusOf<T extends keyof Statuses>(type: T, { status }: Happening): Statuses[T][number] {
  const known: readonly Statuses[T][number][] = STATUSES[type];
  const found = status === undefined ? known[0] : known.find((one) => one === status);
  if (found) return found;
  throw new ControlError(422, `The status of ${type} must be one of ${known.join(', ')}.`);
}
