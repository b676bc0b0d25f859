import { findCharge } from './charges';
import type { Invoice, WorldObject } from './model';
import { EMBEDDED } from './render/invoice';
import { renderObject } from './render/object';
import { embeddedList, type Json, type Shape } from './render/shape';
import { ApiError } from './respond';
import type { World } from './world';

const MAX_LEVELS = 4;

type Kind = WorldObject['object'];

/** What expanding needs to know. */
interface View {
  world: World;
  shape: Shape;
}

/**
 * Expands rendered objects of one kind in place.
 *
 * @param paths as in the request; those of a list start with `data.`
 * @throws ApiError 400 where a path cannot be expanded
 */
export function expand(view: View, kind: Kind, objects: Json[], paths: string[], isList: boolean): void {
  for (const path of paths) {
    const segments = path.split('.');
    if (segments.length > MAX_LEVELS) {
      throw new ApiError(
        400,
        `You cannot expand more than ${MAX_LEVELS} levels of a property. Property: ${path}`,
      );
    }
    if (isList && segments.shift() !== 'data') throw refuse(path.split('.')[0] ?? '', `data.${path}`);
    expandAll(view, kind, objects, segments);
  }
}

function expandAll(view: View, kind: Kind, objects: Json[], segments: string[]): void {
  if (segments.length === 0) throw refuse('data');
  const wanted = segments.join('.');
  const field = EXPANDABLE[kind].find(
    ({ path, in: isIn }) => isIn(view.shape) && (wanted === path || wanted.startsWith(`${path}.`)),
  );
  if (!field) throw refuse(segments[0] ?? '');
  const rest = segments.slice(field.path.split('.').length);
  if (field.becomes === null) {
    if (rest.length > 0) throw refuse(rest[0] ?? '');
    for (const object of objects) object[field.path] = invoiceOf(view.world, object).amountPaidOffStripe;
  } else if (field.becomes === 'invoice_payments') {
    const payments = objects.flatMap((object) => includePayments(view, object));
    if (rest.length === 0) return;
    if (rest[0] !== 'data') throw refuse(rest[0] ?? '', 'data');
    expandAll(view, 'invoice_payment', payments, rest.slice(1));
  } else {
    const target = field.becomes;
    const found = objects.flatMap((object) => replaceId(view, target, object, field.path.split('.')));
    if (rest.length > 0) expandAll(view, target, found, rest);
  }
}

function includePayments(view: View, object: Json): Json[] {
  const present = object.payments as { data: Json[] } | undefined;
  if (present) return present.data;
  const id = String(object.id);
  const payments = [...view.world.invoicePayments.where('invoice', id)]
    .reverse()
    .map((payment) => renderObject(payment, view.shape));
  object.payments = embeddedList(payments, `/v1/invoice_payments?invoice=${id}`, EMBEDDED);
  return payments;
}

/** Puts the object in the place of its id; what is null or absent stays so. */
function replaceId(view: View, kind: Kind, object: Json, path: string[]): Json[] {
  const [key = '', ...inner] = path;
  const value = object[key];
  if (inner.length > 0) {
    if (typeof value !== 'object' || value === null) return [];
    // The hash may belong to a record, which is never changed in place.
    const copy = { ...value } as Json;
    object[key] = copy;
    return replaceId(view, kind, copy, inner);
  }
  if (typeof value === 'object' && value !== null) return [value as Json];
  const target = typeof value === 'string' ? find(view.world, kind, value) : undefined;
  if (!target) return [];
  const rendered = renderObject(target, view.shape);
  object[key] = rendered;
  return [rendered];
}

function find(world: World, kind: Kind, id: string): WorldObject | undefined {
  switch (kind) {
    case 'customer':
      return world.customers.get(id);
    case 'subscription':
      return world.subscriptions.get(id);
    case 'invoice':
      return world.invoices.get(id);
    case 'invoice_payment':
      return world.invoicePayments.get(id);
    case 'payment_intent':
      return world.paymentIntents.get(id);
    case 'checkout.session':
      return world.checkoutSessions.get(id);
    case 'charge':
      return findCharge(world, id);
    case 'refund':
      return world.refunds.get(id);
    case 'dispute':
      return world.disputes.get(id);
    case 'credit_note':
      return world.creditNotes.get(id);
  }
}

function invoiceOf(world: World, object: Json): Pick<Invoice, 'amountPaidOffStripe'> {
  return world.invoices.get(String(object.id)) ?? { amountPaidOffStripe: 0 };
}

function refuse(property: string, instead?: string): ApiError {
  const hint = instead ? ` You may want to try expanding '${instead}' instead.` : '';
  return new ApiError(400, `This property cannot be expanded (${property}).${hint}`);
}

interface Expandable {
  /** Where it stands within its object. */
  path: string;
  /** What stands there once it is expanded; null: a plain value. */
  becomes: Kind | 'invoice_payments' | null;
  in(shape: Shape): boolean;
}

const always = () => true;
const basil = (shape: Shape) => shape.basil;
const older = (shape: Shape) => !shape.basil;

/** What each object can expand, and becomes by it. */
const EXPANDABLE: Record<Kind, Expandable[]> = {
  customer: [],
  subscription: [
    { path: 'customer', becomes: 'customer', in: always },
    { path: 'latest_invoice', becomes: 'invoice', in: always },
  ],
  invoice: [
    { path: 'customer', becomes: 'customer', in: always },
    { path: 'payments', becomes: 'invoice_payments', in: basil },
    { path: 'amount_paid_off_stripe', becomes: null, in: (shape) => shape.offStripeAmount },
    {
      path: 'parent.subscription_details.subscription',
      becomes: 'subscription',
      in: (shape) => shape.basil || shape.acacia,
    },
    { path: 'subscription', becomes: 'subscription', in: older },
    { path: 'payment_intent', becomes: 'payment_intent', in: older },
  ],
  invoice_payment: [
    { path: 'invoice', becomes: 'invoice', in: always },
    { path: 'payment.payment_intent', becomes: 'payment_intent', in: always },
  ],
  payment_intent: [
    { path: 'customer', becomes: 'customer', in: always },
    { path: 'invoice', becomes: 'invoice', in: older },
  ],
  'checkout.session': [
    { path: 'customer', becomes: 'customer', in: always },
    { path: 'subscription', becomes: 'subscription', in: always },
    { path: 'invoice', becomes: 'invoice', in: always },
  ],
  charge: [
    { path: 'customer', becomes: 'customer', in: always },
    { path: 'payment_intent', becomes: 'payment_intent', in: always },
    { path: 'invoice', becomes: 'invoice', in: older },
  ],
  refund: [
    { path: 'charge', becomes: 'charge', in: always },
    { path: 'payment_intent', becomes: 'payment_intent', in: always },
    { path: 'customer', becomes: 'customer', in: always },
  ],
  dispute: [
    { path: 'charge', becomes: 'charge', in: always },
    { path: 'payment_intent', becomes: 'payment_intent', in: always },
  ],
  credit_note: [
    { path: 'customer', becomes: 'customer', in: always },
    { path: 'invoice', becomes: 'invoice', in: always },
    { path: 'refund', becomes: 'refund', in: older },
  ],
};
