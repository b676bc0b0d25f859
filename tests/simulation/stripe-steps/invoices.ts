import * as act from '@/lib/stripe-local/actions';
import { epochNow } from '@/lib/stripe-local/world';
import { invoiceThat, isOlder, live, numberMetadata, ownerOf } from './scene';
import type { Steps } from './steps';

const DAY = 86_400;
const CURRENCIES = ['eur', 'eur', 'eur', 'eur', 'jpy', 'kwd', 'isk', 'usd'];

export const INVOICE_STEPS = {
  invoice(scene, { a, b, c }) {
    const owner = ownerOf(scene, a);
    if (!owner) return null;
    const { object } = act.createInvoice(scene.world, {
      customer: owner.id,
      lines: [{ amount: b === 7 ? 0 : 1000 + b * 990 }],
      tax: b === 7 ? 0 : b * 190,
      currency: CURRENCIES[c] ?? 'eur',
      metadata: numberMetadata(scene, c),
      ...(b % 2 === 0 && { dueDate: epochNow(scene.world) + c * DAY }),
    });
    return `${owner.id} is to be invoiced: ${object.id}`;
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
    // Nor is an address that only it still told.
    const isLast = scene.plan.linkByEmail && scene.world.customers.get(found?.customer ?? '')?.deleted;
    if (!found || !isKnown || isLast || found.metadata.customer_number) return null;
    act.deleteDraftInvoice(scene.world, found.id);
    return `${found.id} is deleted`;
  },
  changeDueDate(scene, { a, b, c }) {
    const found = invoiceThat(scene, a, 'draft', 'open');
    if (!found) return null;
    const metadata = { ...numberMetadata(scene, b), ...found.metadata };
    act.updateInvoice(scene.world, found.id, { dueDate: epochNow(scene.world) + c * DAY, metadata });
    return `${found.id} is due ${c} days from now`;
  },
  /** A renewal as it goes most often: all of it within a second. */
  charge(scene, { a, b }) {
    const found = live(scene, a);
    if (!found || act.endsWithPeriod(found)) return null;
    // No period ends twice within one second, and of more than eight updates nobody puts all in order.
    const last = scene.world.invoices.get(found.latestInvoice ?? '');
    if (last?.billingReason === 'subscription_cycle' && last.created === epochNow(scene.world)) return null;
    const { invoice } = act.renewSubscription(scene.world, found.id).object;
    const { status } = act.finalizeInvoice(scene.world, invoice.id).object;
    if (status === 'open' && b % 4 === 0) act.failInvoicePayment(scene.world, invoice.id);
    if (status === 'open' && b % 4 !== 1) act.payInvoice(scene.world, invoice.id);
    return `${found.id} is charged by ${invoice.id}`;
  },
} satisfies Steps;
