import type { Subscription } from '@/lib/stripe-local/model';
import type { Truth } from './index';
import { ANNOUNCING } from './story';

/** Whether an item was in several subscriptions, one after the other. */
export function wasMoved({ history }: Truth, item: string): boolean {
  const holders = history.flatMap(({ about }) => (holds(about, item) ? about.id : []));
  return new Set(holders).size > 1;
}

/**
 * Items that events of one second show in several subscriptions. Each of these ends as it must, but of an item
 * that both show nothing tells which comes last: without Stripe's word it may be in either, or be gone.
 */
export function movedWithinSecond({ history }: Truth): Set<string | null> {
  const holders = new Map<string, string>();
  const found = new Set<string | null>();
  for (const { type, created, about } of history) {
    if (about.object !== 'subscription' || !ANNOUNCING.has(type)) continue;
    for (const { id } of about.items) {
      const other = holders.get(`${id} ${created}`);
      if (other !== undefined && other !== about.id) found.add(id);
      holders.set(`${id} ${created}`, about.id);
    }
  }
  return found;
}

/** Items an event shows of its subscription. */
const SHOWN = 10;

/**
 * Items that were moved to or from a subscription of which events do not show all: none of its own tells whether
 * one is still among the others.
 */
export function movedOutOfSight(truth: Truth): string[] {
  const long = truth.history.flatMap(({ about }) =>
    about.object === 'subscription' && about.items.length > SHOWN ? about.items.map(({ id }) => id) : [],
  );
  return [...new Set(long)].filter((item) => wasMoved(truth, item));
}

const holds = (about: { object: string }, item: string): about is Subscription =>
  about.object === 'subscription' && (about as Subscription).items.some(({ id }) => id === item);
