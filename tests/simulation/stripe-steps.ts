import * as act from '@/lib/stripe-local/actions';
import type { Invoice, ItemInput, Metadata, Subscription } from '@/lib/stripe-local/model';
import { epochNow, type World } from '@/lib/stripe-local/world';
import { BASIL, type Plan, type Step, type StepKind } from './plan';
import type { Setup } from './setup';

interface Scene {
  world: World;
  plan: Plan;
  setup: Setup;
  /** Subscriptions of ours that a checkout was made for. */
  checkedOut: Set<number>;
}

/** Does something at Stripe. @returns what, as a sentence; null where it does not fit */
export function doAtStripe(scene: Scene, step: Step): string | null {
  const work = STEPS[step.kind];
  return work ? work(scene, step) : null;
}

const DAY = 86_400;
const CURRENCIES = ['eur', 'eur', 'eur', 'eur', 'jpy', 'kwd', 'isk', 'usd'];

const STEPS: Partial<Record<StepKind, (scene: Scene, step: Step) => string | null>> = {
  subscribe(scene, { a, b, c }) {
    const owner = ownerOf(scene, a);
    // Now and then about as many as Stripe still shows in an event, which is ten.
    const count = b === 7 ? 9 + (c % 5) : 1 + (b % 3);
    const items = Array.from({ length: count }, (_, i) => newItem(scene, owner.own, b + i, c));
    const variants = ['active', 'active', 'trialing', 'incomplete', 'past_due'] as const;
    const status = variants[c % variants.length] ?? 'active';
    const { object } = act.createSubscription(scene.world, {
      customer: owner.id,
      items,
      status,
      metadata: { ...numberMetadata(scene, c), ...(b % 4 === 3 && serviceMetadata(owner.own, c)) },
      ...(status === 'trialing' && { trialEnd: epochNow(scene.world) + 14 * DAY }),
    });
    if (c % 2 === 0) act.invoiceSubscription(scene.world, object.id);
    return `${owner.id} subscribes ${count} items: ${object.id} (${status})`;
  },
  changeItems(scene, { a, b, c }) {
    const found = live(scene, a);
    if (!found) return null;
    const { items } = found;
    const [first] = items;
    if (!first) return null;
    const { customer } = found;
    const at = items.length > 9 ? items.length - 1 - (c % 4) : c % items.length;
    const others = items.filter((_, i) => i !== at);
    const one = items[at] ?? first;
    const sharedPeriod = {
      currentPeriodStart: first.currentPeriodStart,
      currentPeriodEnd: first.currentPeriodEnd,
    };
    const changes = [
      {
        what: 'gets an item',
        items: [
          ...items,
          { ...newItem(scene, ownOf(scene, customer), c, c), ...(isOlder(scene) && sharedPeriod) },
        ],
      },
      { what: `loses ${one.id}`, items: others.length > 0 ? others : items },
      { what: 'changes a quantity', items: [{ ...one, quantity: one.quantity + 1 }, ...others] },
      {
        what: 'changes a price',
        items: [{ ...one, priceId: `price_${c}`, unitAmount: one.unitAmount + 100 }, ...others],
      },
    ];
    const change = changes[b % changes.length];
    if (!change) return null;
    act.updateSubscription(scene.world, found.id, { items: change.items });
    return `${found.id} ${change.what}`;
  },
  setMetadata(scene, { a, b, c }) {
    const found = live(scene, a);
    if (!found) return null;
    const metadata = serviceMetadata(ownOf(scene, found.customer), c);
    const items = found.items.map((item, i) => (i === b % found.items.length ? { ...item, metadata } : item));
    act.updateSubscription(scene.world, found.id, { items });
    return `${found.id} names services ${JSON.stringify(metadata)}`;
  },
  setStatus(scene, { a, b }) {
    const found = live(scene, a);
    if (!found) return null;
    const statuses = ['past_due', 'active', 'unpaid', 'paused', 'active', 'incomplete_expired'] as const;
    const status = statuses[b % statuses.length] ?? 'active';
    act.updateSubscription(scene.world, found.id, { status });
    return `${found.id} becomes ${status}`;
  },
  renew(scene, { a }) {
    const found = live(scene, a);
    if (!found || act.endsWithPeriod(found)) return null;
    const { invoice } = act.renewSubscription(scene.world, found.id).object;
    return `${found.id} renews with ${invoice.id}`;
  },
  cancel(scene, { a }) {
    const found = live(scene, a);
    if (!found) return null;
    act.cancelSubscription(scene.world, found.id);
    return `${found.id} is cancelled`;
  },
  endWithPeriod(scene, { a, b }) {
    const found = live(scene, a);
    if (!found) return null;
    const cancelAtPeriodEnd = b % 3 !== 0;
    act.updateSubscription(scene.world, found.id, { cancelAtPeriodEnd });
    return `${found.id} ${cancelAtPeriodEnd ? 'ends with its period' : 'goes on'}`;
  },
  /** As the portal does under flexible billing. */
  endAt(scene, { a, b, c }) {
    const found = live(scene, a);
    if (!found) return null;
    const cancelAt = b % 4 === 0 ? null : epochNow(scene.world) + (1 + 9 * c) * DAY;
    act.updateSubscription(scene.world, found.id, { cancelAt });
    return `${found.id} ${cancelAt ? `ends at ${cancelAt}` : 'goes on'}`;
  },
  pause(scene, { a, b, c }) {
    const found = live(scene, a);
    if (!found) return null;
    const behavior = ['keep_as_draft', 'mark_uncollectible', 'void'][b % 4];
    const resumesAt = c % 2 === 0 ? null : epochNow(scene.world) + c * DAY;
    act.updateSubscription(scene.world, found.id, {
      pauseCollection: behavior ? { behavior, resumesAt } : null,
    });
    return `${found.id} ${behavior ? `is not collected: ${behavior}` : 'is collected again'}`;
  },
  checkout(scene, { a, b, c }) {
    const { id, own } = ownerOf(scene, a);
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
  invoice(scene, { a, b, c }) {
    const { id } = ownerOf(scene, a);
    const { object } = act.createInvoice(scene.world, {
      customer: id,
      lines: [{ amount: b === 7 ? 0 : 1000 + b * 990 }],
      tax: b === 7 ? 0 : b * 190,
      currency: CURRENCIES[c] ?? 'eur',
      metadata: numberMetadata(scene, c),
      ...(b % 2 === 0 && { dueDate: epochNow(scene.world) + c * DAY }),
    });
    return `${id} is to be invoiced: ${object.id}`;
  },
  finalize(scene, { a }) {
    const found = invoiceThat(scene, a, 'draft');
    if (!found) return null;
    act.finalizeInvoice(scene.world, found.id);
    return `${found.id} is finalized`;
  },
  pay(scene, { a, b }) {
    const found = invoiceThat(scene, a, 'open', 'uncollectible');
    if (!found) return null;
    const half = Math.floor((found.amountDue - found.amountPaid) / 2);
    const offStripe = b === 0 ? true : b === 1 && half > 0 && !isOlder(scene) ? half : undefined;
    act.payInvoice(scene.world, found.id, offStripe === undefined ? {} : { offStripe });
    return `${found.id} is paid${offStripe === undefined ? '' : `, off Stripe: ${offStripe}`}`;
  },
  payPart(scene, { a, b }) {
    const found = invoiceThat(scene, a, 'open', 'uncollectible');
    const part = found ? Math.floor((found.amountDue - found.amountPaid) / 3) : 0;
    if (!found || part <= 0) return null;
    const offStripe = b % 2 === 0 && !isOlder(scene);
    act.payInvoicePart(scene.world, found.id, part, { offStripe });
    return `${part} of ${found.id} is paid${offStripe ? ' off Stripe' : ''}`;
  },
  fail(scene, { a }) {
    const found = invoiceThat(scene, a, 'open', 'uncollectible');
    if (!found) return null;
    act.failInvoicePayment(scene.world, found.id);
    return `${found.id} cannot be collected`;
  },
  begin(scene, { a }) {
    const found = invoiceThat(scene, a, 'open');
    if (!found) return null;
    act.beginPayment(scene.world, found.id);
    return `the payment of ${found.id} is under way`;
  },
  voidInvoice(scene, { a }) {
    const found = invoiceThat(scene, a, 'open', 'uncollectible');
    if (!found || found.amountPaid > 0) return null;
    act.voidInvoice(scene.world, found.id);
    return `${found.id} is voided`;
  },
  uncollectible(scene, { a }) {
    const found = invoiceThat(scene, a, 'open');
    if (!found) return null;
    act.markUncollectible(scene.world, found.id);
    return `${found.id} is uncollectible`;
  },
  deleteDraft(scene, { a }) {
    const found = invoiceThat(scene, a, 'draft');
    // What nothing else tells is not known for sure: that its customer exists, and who it is.
    const isKnown = [...scene.world.subscriptions.values()].some(
      ({ customer }) => customer === found?.customer,
    );
    if (!found || !isKnown || found.metadata.customer_number) return null;
    act.deleteDraftInvoice(scene.world, found.id);
    return `${found.id} is deleted`;
  },
  changeDueDate(scene, { a, c }) {
    const found = invoiceThat(scene, a, 'draft', 'open');
    if (!found) return null;
    act.updateInvoice(scene.world, found.id, { dueDate: epochNow(scene.world) + c * DAY });
    return `${found.id} is due ${c} days from now`;
  },
  /** A renewal as it goes most often: all of it within a second. */
  charge(scene, { a, b }) {
    const found = live(scene, a);
    if (!found || act.endsWithPeriod(found)) return null;
    const { invoice } = act.renewSubscription(scene.world, found.id).object;
    const { status } = act.finalizeInvoice(scene.world, invoice.id).object;
    if (status === 'open' && b % 4 === 0) act.failInvoicePayment(scene.world, invoice.id);
    if (status === 'open' && b % 4 !== 1) act.payInvoice(scene.world, invoice.id);
    return `${found.id} is charged by ${invoice.id}`;
  },
};

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

function newItem(scene: Scene, own: Setup['ours'][number] | undefined, b: number, c: number): ItemInput {
  return {
    unitAmount: 500 + 100 * b,
    quantity: 1 + (c % 2),
    // Before basil all items of a subscription had one period.
    interval: !isOlder(scene) && (b + c) % 5 === 4 ? 'year' : 'month',
    metadata: b % 2 === 0 ? {} : serviceMetadata(own, b + c),
  };
}

function customerEmail(world: World, id: string) {
  const email = world.customers.get(id)?.email;
  return email ? { customerEmail: email } : {};
}

function serviceMetadata(own: Setup['ours'][number] | undefined, c: number): Metadata {
  const service = own?.services[c % Math.max(1, own.services.length)];
  if (!service) return {};
  const other = own?.services[(c + 1) % own.services.length];
  // Its id names one service, and the number another.
  if (c === 6 && other) return { customer_service_id: String(service.id), service_number: other.number };
  return c % 2 === 0 ? { customer_service_id: String(service.id) } : { service_number: service.number };
}

/** Now and then an object's metadata names a customer, and not always the right one. */
function numberMetadata({ setup }: Scene, c: number): Metadata {
  const number = c < 4 ? undefined : setup.ours[c - 4]?.number;
  return number === undefined ? {} : { customer_number: number };
}

function ownerOf(scene: Scene, a: number) {
  const made = scene.setup.stripeCustomers;
  const id = made[a % made.length]?.customer.id ?? '';
  return { id, own: ownOf(scene, id) };
}

/** Whose services and sold subscription are named: the one it most surely is, else any candidate. */
function ownOf(scene: Scene, stripeCustomerId: string) {
  return scene.setup.ours.find((one) => isCandidate(scene, stripeCustomerId, one.id));
}

function isCandidate({ setup }: Scene, stripeCustomerId: string, id: number): boolean {
  const made = setup.stripeCustomers.find(({ customer }) => customer.id === stripeCustomerId);
  const own = setup.ours.find((one) => one.id === id);
  if (!made || !own) return false;
  if (made.staff !== null) return made.staff === id;
  const { email, metadata } = made.customer;
  if (setup.ours.some((one) => one.number === metadata.customer_number)) {
    return own.number === metadata.customer_number;
  }
  return email === null || own.email === email;
}

const isOlder = ({ plan }: Scene) => plan.versions.some((version) => !BASIL.includes(version));

function live({ world }: Scene, a: number): Subscription | undefined {
  return pick(
    [...world.subscriptions.values()].filter(({ status }) => !ENDED.has(status)),
    a,
  );
}

const ENDED = new Set(['canceled', 'incomplete_expired']);

function invoiceThat({ world }: Scene, a: number, ...statuses: Invoice['status'][]): Invoice | undefined {
  return pick(
    [...world.invoices.values()].filter(({ status }) => statuses.includes(status)),
    a,
  );
}

/** The newest first: what was just made is most often what goes on. */
function pick<T>(from: T[], a: number): T | undefined {
  return from.at(-1 - (a % Math.max(1, from.length)));
}
