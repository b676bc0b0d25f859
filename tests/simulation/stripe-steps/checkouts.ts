import * as act from '@/lib/stripe-local/actions';
import type { World } from '@/lib/stripe-local/world';
import { isCandidate, isOlder, newItem, numberMetadata, ownerOf, type Scene, serviceMetadata } from './scene';
import type { Steps } from './steps';

export const CHECKOUT_STEPS = {
  checkout(scene, { a, b, c }) {
    const owner = ownerOf(scene, a);
    if (!owner) return null;
    const { id, own } = owner;
    const free = scene.setup.ours.filter(({ sold }) => sold && !scene.checkedOut.has(sold.id));
    const wrong = free.find((one) => !isCandidate(scene, id, one.id));
    const reference = (b % 4 === 3 ? wrong : free.find((one) => one === own))?.sold?.id ?? null;
    if (reference !== null) scene.checkedOut.add(reference);
    const session = act.createCheckoutSession(scene.world, {
      customer: id,
      ...customerEmail(scene.world, id),
      ...boughtItems(scene, reference, b, c),
      subscriptionMetadata: numberMetadata(scene, c),
      ...(reference !== null && b % 2 === 0 && { clientReferenceId: String(reference) }),
      ...(reference !== null && b % 2 === 1 && { metadata: { subscription_id: String(reference) } }),
    });
    const payment = (['unpaid', 'paid', 'no_payment_required'] as const)[c % 3] ?? 'paid';
    const { object } = act.completeCheckout(scene.world, session.id, { payment });
    return `${id} checks out ${object.subscription} (${payment}, reference ${reference})`;
  },
} satisfies Steps;

/** What was sold by the reference; now and then with a price, an interval, a currency or a service that was not. */
function boughtItems(scene: Scene, reference: number | null, b: number, c: number) {
  const owner = scene.setup.ours.find(({ sold }) => sold?.id === reference);
  if (!owner?.sold || c === 7) return { items: [newItem(scene, owner, b, c)] };
  const { quantity, services } = owner.sold;
  const sold = owner.services.filter(({ id }) => services.includes(id));
  // Before basil all items of a subscription had one period.
  const bought = isOlder(scene) && new Set(sold.map(({ price }) => price.months)).size > 1 ? [] : sold;
  const items = bought.map(({ id, number, price: { minor, months } }, i) => {
    const isYear = months === 12;
    const [a = {}, z = {}] = [{ customer_service_id: String(id) }, { service_number: number }];
    return {
      unitAmount: minor + (c === 1 && i === 0 ? 1 : 0),
      quantity: quantity + (c === 2 && i === 0 ? 1 : 0),
      interval: isYear ? ('year' as const) : ('month' as const),
      intervalCount: (isYear ? 1 : months) + (c === 3 && !isOlder(scene) ? 1 : 0),
      metadata: b < 4 ? {} : b === 4 ? a : b === 5 ? z : serviceMetadata(owner, c),
    };
  });
  const currency = c === 5 ? 'usd' : (sold[0]?.price.currency ?? 'eur');
  return { items: items.length > 0 ? items : [newItem(scene, owner, b, c)], currency };
}

function customerEmail(world: World, id: string) {
  const email = world.customers.get(id)?.email;
  return email ? { customerEmail: email } : {};
}
