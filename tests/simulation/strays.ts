import type { WorldEvent, WorldObject } from '@/lib/stripe-local/model';
import { epochNow } from '@/lib/stripe-local/world';
import type { Step } from './plan';
import { type Left, type Sent, sent } from './stray-kinds';
import type { Scene } from './stripe-steps/scene';

type Json = Record<string, unknown>;

/** An event of something that Stripe has told nothing else of, and does not know when it is asked. */
export interface Stray {
  event: WorldEvent;
  /** As it is sent, in a shape that the world has none of. */
  rendered: Json;
  outcome: NonNullable<Sent['outcome']>;
  /** What it leaves here, once all of it was brought; null: nothing. */
  leaves: Left | null;
}

/** An id that the world draws has no such underscore. */
export const isStray = (id: string | null) => /^\w+_stray_/.test(id ?? '');

export function makeStrays(scene: Scene, step: Step): Stray[] {
  const customer = `cus_stray_${scene.strays.count}`;
  scene.unknown.add(customer);
  return sent(scene, step, customer).map(({ type, object, outcome = 'processed', leaves, ago = 0 }) => {
    scene.strays.count += 1;
    const id = `evt_stray_${scene.strays.count}`;
    const created = epochNow(scene.world) - ago;
    const about = { id: `none_stray_${scene.strays.count}`, ...object } as unknown as WorldObject;
    const event = { object: 'event', id, created, type, about, previous: null } as const;
    const envelope = { id, object: 'event', created, type, livemode: false, api_version: null };
    return { event, rendered: { ...envelope, data: { object } }, outcome, leaves: leaves ?? null };
  });
}
