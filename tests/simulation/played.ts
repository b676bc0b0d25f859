import type { World } from '@/lib/stripe-local/world';
import type { ApiFaults } from './api-faults';
import type { Look } from './looks';
import type { Deeds } from './own-steps';
import type { Plan } from './plan';
import type { Setup } from './setup';
import type { Stray } from './strays';
import type { Tally } from './tally';

/** A history as it went. */
export interface Played {
  plan: Plan;
  world: World;
  setup: Setup;
  deeds: Deeds;
  /** Event ids that came through. */
  delivered: Set<string>;
  /** When each event was there, in ticks that only count up. */
  times: Map<string, EventTimes>;
  /** What Stripe reported of customers itself. */
  looks: Look[];
  /** So many were at work at once that what Stripe answered may have been out of date each time. */
  isCrowded: boolean;
  /** Stripe customers that it does not even know any more. */
  unknown: ReadonlySet<string>;
  strays: Stray[];
  /** Signed bodies by event id. */
  payloads: Map<string, string>;
  /** Readable, in order. */
  log: string[];
  /** What must not have happened on the way. */
  faults: string[];
  counts: { deliveries: number; crashes: number; runs: number };
  /** Steps that were done, and what went wrong on purpose. */
  steps: Tally;
  mishaps: Tally;
  apiFaults: ApiFaults;
  now(): Date;
  /** Lets some seconds pass. */
  later(seconds: number): void;
}

export interface EventTimes {
  happened: number;
  /** When it was first brought; null: never. */
  tried: number | null;
  /** When it was first taken in for sure. */
  done: number | null;
  /** How often its customer's own number had changed when it was last brought and taken in. */
  changes: number | null;
}
