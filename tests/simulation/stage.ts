import { writePayment } from '@/lib/payments/write-payment';
import type { StoredItem, StoredLink, StoredService } from '@/lib/store/snapshot';
import type { Store } from '@/lib/store/store';
import type { World } from '@/lib/stripe-local/world';
import type { ReconcileResult } from '@/lib/sync/reconcile/reconcile';
import { linkStripeCustomer } from '@/lib/sync/staff/link-stripe-customer';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import type { Faults } from '../support/stripe-server';
import type { Look } from './oracle/story';
import type { Crash } from './plan';
import type { Tables } from './tables';

/** Runs histories one after the other on a store and a local Stripe, with the product between them. */
export interface Stage {
  /** The faults of Stripe's API. */
  faults: Faults;
  /** Returns the number of requests to Stripe's API. */
  requestCount(): number;
  /** Whether the clock can pass the end of a month while a commit is in progress. */
  commitsTakeTime?: boolean;
  /** Counts deadlocks since the last call, up to a second late. Retries make them invisible in the rows. */
  takeDeadlocks?(): Promise<number>;
  begin(scene: Scene): Promise<void>;
  /**
   * Handles a delivery.
   *
   * @param looks list that collects Stripe's answers about customers
   */
  receive(delivery: Delivery, looks: Look[]): Promise<Received>;
  reconcile(crash: Crash | undefined, looks: Look[]): Promise<Ran>;
  hands(): Hands;
  tables(): Promise<Tables>;
  /** Returns the last changes of runs, the latest first. */
  lastChanges(count: number): Promise<object[]>;
  close(): Promise<void>;
}

export interface Scene {
  world: World;
  seed: number;
  hasKey: boolean;
  timeZone: string;
  linkByEmail: boolean;
  now(): Date;
}

interface Delivery {
  rendered: object;
  /** The payload of the event, as it is signed. */
  body: string;
  crash: Crash | undefined;
  /** Whether a separate process handles the delivery. It shares only the stored rows with the others. */
  isOwnProcess: boolean;
  /** Whether staff replay the event, as opposed to a delivery by Stripe. */
  isReplay?: boolean;
}

export interface Received {
  status: number;
  answer: string;
  /** Whether the planned crash happened. */
  crashed: boolean;
  /** Whether there was a conflict, so that earlier answers from Stripe may have been discarded. */
  contested: boolean;
}

export interface Ran extends Pick<Received, 'crashed' | 'contested'> {
  /** The result of the run. Null if a crash ended it. */
  result: Pick<ReconcileResult, 'status' | 'changes'> | null;
}

/** The actions of staff and programs on our tables. */
export interface Hands extends Making, ReturnType<typeof productHands> {
  /** Links a subscription item to a service as staff, or unlinks it. @throws AppError for another customer's service */
  linkItem(id: number, serviceNumber: string | null): Promise<unknown>;
  dateService(id: number, dates: { next_billing_date?: string; ends_on?: string }): Promise<unknown>;
}

export const ACTOR = { type: 'cli', id: 'simulation', name: 'simulation' } as const;

/** Returns the actions that are the same functions of the product on each stage. They throw an AppError if refused. */
export function productHands(deps: SyncDeps, store: Store) {
  const { now, timeZone } = deps;
  const write = (change: Parameters<typeof writePayment>[1]) =>
    writePayment(store, change, { actor: ACTOR, source: 'api', now: now(), clock: now, timeZone });
  return {
    deletePayment: async (id: number): Promise<void> => {
      await write({ kind: 'delete', id });
    },
    updatePayment: async (
      id: number,
      changes: Partial<Pick<NewPayment, 'amount' | 'invoice_id' | 'payment_reference'>> & {
        status?: 'refunded' | 'completed';
      },
    ): Promise<void> => {
      await write({ kind: 'update', id, changes });
    },
    recordPayment: (input: NewPayment) => write({ kind: 'record', input, onlyNew: true }),
    linkStripeCustomer: (id: string, link: { from: number; to: number }) =>
      linkStripeCustomer({ ...deps, stripe: null }, ACTOR, id, link),
  };
}

export interface NewPayment {
  invoice_id: number;
  customer_id: number;
  amount: number;
  payment_date: string;
  payment_reference: string;
}

/** Creates the rows that exist before a history begins. */
export interface Making {
  makeCustomer(email: string | null): Promise<{ id: number; customer_number: string }>;
  /** Creates a customer that was merged into the given one. @returns the number of the merged customer */
  makeMerged(customer_id: number): Promise<string>;
  makeService(
    service: Pick<
      StoredService,
      'customer_id' | 'next_billing_date' | 'ends_on' | 'price' | 'currency' | 'billing_interval'
    >,
  ): Promise<{ id: number; service_number: string }>;
  /** Creates a subscription that waits for its checkout. */
  makeSold(customer_id: number): Promise<{ id: number }>;
  makeSoldItem(item: Pick<StoredItem, 'subscription_id' | 'customer_service_id' | 'quantity'>): Promise<void>;
  /** Creates `OWN_INVOICE`. */
  makeInvoice(customer_id: number): Promise<{ id: number }>;
  makeLink(link: Pick<StoredLink, 'stripe_customer_id' | 'customer_id' | 'linked_by'>): Promise<void>;
}
