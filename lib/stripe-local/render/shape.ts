import type { Address } from '../model';

export type Json = { [key: string]: unknown };

/** The differences between API versions in the fields of the model. */
export interface Shape {
  version: string;
  /** https://docs.stripe.com/changelog/basil: periods on the items, `parent`, `payments`, no `paid`. */
  basil: boolean;
  /** The months before basil, when old and new fields stood side by side. */
  acacia: boolean;
  /** From 2022-11-15: `latest_charge` in place of a payment intent's `charges`. */
  modern: boolean;
  /** From 2026-05-27: `amount_paid_off_stripe`, only where it is expanded and never in events. */
  offStripeAmount: boolean;
}

/** @param version such as `2020-08-27` or `2026-10-28.endive` */
export function shapeOf(version: string): Shape {
  const since = (date: string) => version.slice(0, 10) >= date;
  return {
    version,
    basil: since('2025-03-31'),
    acacia: since('2024-09-30') && !since('2025-03-31'),
    modern: since('2022-11-15'),
    offStripeAmount: since('2026-05-27'),
  };
}

/** A list that stands inside another object. */
export function embeddedList(data: unknown[], url: string, limit = data.length): Json {
  return {
    object: 'list',
    data: data.slice(0, limit),
    has_more: data.length > limit,
    total_count: data.length,
    url,
  };
}

/** A world that was saved by an older version has none. */
export function renderAddress(address: Address | null | undefined): Json | null {
  return address ? { ...address, state: null } : null;
}
