import type { Faults } from '@/lib/stripe-local/faults';
import type { World } from '@/lib/stripe-local/world';
import type { ReconcileResult } from '@/lib/sync/reconcile/reconcile';
import type { Hands } from './hands';
import type { Look } from './looks';
import type { Crash } from './plan';
import type { Tables } from './tables';

/** Where histories are played, one after the other: what stores, a local Stripe and the product between them. */
export interface Stage {
  /** What goes wrong with Stripe's API. */
  faults: Faults;
  /** How often it was asked. */
  requestCount(): number;
  /** Deadlocks since it was asked last, a second late, where there are locks: who is told begins again, and no row is wrong. */
  takeDeadlocks?(): Promise<number>;
  /** Sets the scene for a history. */
  begin(scene: Scene): Promise<void>;
  /** @param looks what Stripe tells of customers meanwhile is added to them */
  receive(delivery: Delivery, looks: Look[]): Promise<Received>;
  reconcile(crash: Crash | undefined, looks: Look[]): Promise<Ran>;
  /** What is done here by staff and programs. */
  hands(): Hands;
  tables(): Promise<Tables>;
  /** The last changes that runs made, the latest first. */
  lastChanges(count: number): Promise<object[]>;
  close(): Promise<void>;
}

export interface Scene {
  world: World;
  /** Of the history. */
  seed: number;
  hasKey: boolean;
  timeZone: string;
  linkByEmail: boolean;
  now(): Date;
}

export interface Delivery {
  /** The event as it was rendered, and as it is signed. */
  rendered: object;
  body: string;
  crash: Crash | undefined;
  /** It comes to a process that shares nothing with the others. */
  isOwnProcess: boolean;
  /** Not delivered: staff apply it once more. */
  isReplay?: boolean;
}

export interface Received {
  /** Of HTTP. */
  status: number;
  answer: string;
  /** The crash came to pass. */
  crashed: boolean;
  /** Another was quicker, so that what Stripe had answered until then may have been of no account. */
  contested: boolean;
}

/** How a run ended; null: a crash threw it out. */
export interface Ran {
  result: Pick<ReconcileResult, 'status' | 'changes'> | null;
  crashed: boolean;
  contested: boolean;
}
