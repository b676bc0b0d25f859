import * as act from '@/lib/stripe-local/actions';
import type { WorldEvent } from '@/lib/stripe-local/model';
import { changesOf } from '../looks';
import { ownerOf, type Scene } from './scene';
import type { Steps } from './steps';

export const CUSTOMER_STEPS = {
  /** Its own number changes, appears or disappears. */
  changeNumber(scene, { a, b }) {
    const owner = ownerOf(scene, a);
    if (!owner) return null;
    const { ours } = scene.setup;
    const number = b < 2 ? undefined : b === 2 ? 'NOBODY' : ours[b % Math.max(1, ours.length)]?.number;
    const { metadata: before } = scene.world.customers.get(owner.id) ?? {};
    if (number === before?.customer_number) return null;
    const metadata = {
      // Tells one answer of Stripe's from another, and nothing to the product.
      changes: String(changesOf(before) + 1),
      ...(number !== undefined && { customer_number: number }),
    };
    act.updateCustomer(scene.world, owner.id, { metadata });
    return `${owner.id} has ${number === undefined ? 'no number' : `the number ${number}`} of its own`;
  },
  deleteCustomer(scene, { a, b }) {
    const owner = ownerOf(scene, a);
    if (!owner || mayHideAddress(scene, owner.id)) return null;
    act.deleteCustomer(scene.world, owner.id);
    const isUnknown = b % 3 === 0;
    if (isUnknown) scene.unknown.add(owner.id);
    return `${owner.id} is deleted${isUnknown ? ', and unknown from now on' : ''}`;
  },
} satisfies Steps;

/** A deleted draft, or a lost checkout, told an address that perhaps nobody saw, and nobody can ask for it any more. */
function mayHideAddress({ world, plan }: Scene, id: string): boolean {
  const isHidden = ({ type, about }: WorldEvent) =>
    (type === 'invoice.deleted' && about.object === 'invoice' && about.customer === id) ||
    (!plan.lossless && about.object === 'checkout.session' && about.customer === id);
  return plan.linkByEmail && world.history.some(isHidden);
}
