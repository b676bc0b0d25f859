import { findCharge } from './charges';
import type { WorldObject } from './model';
import { EMBEDDED } from './render/billing';
import { renderObject } from './render/object';
import { embeddedList, type Json, type Shape } from './render/shape';
import { ApiError } from './respond';
import { collectionOf, type World } from './world';

const MAX_LEVELS = 4;

type Kind = WorldObject['object'];

/** The world and the API version for expanding. */
interface View {
  world: World;
  shape: Shape;
}

/**
 * Expands rendered objects of one kind in place.
 *
 * @param paths the paths of the request; those of a list start with `data.`
 * @throws ApiError 400 if a path cannot be expanded
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
  const wanted = `${segments.join('.')}.`;
  const path = pathsOf(kind, view.shape)
    .find((known) => wanted.startsWith(`${known}.`))
    ?.split('.');
  if (!path) throw refuse(segments[0] ?? '');
  const field = path.at(-1) ?? '';
  const [next, ...rest] = segments.slice(path.length);
  if (field === 'amount_paid_off_stripe') {
    if (next !== undefined) throw refuse(next);
    for (const object of objects)
      object[field] = view.world.invoices.get(String(object.id))?.amountPaidOffStripe ?? 0;
  } else if (field === 'payments') {
    const payments = objects.flatMap((object) => includePayments(view, object));
    if (next === undefined) return;
    if (next !== 'data') throw refuse(next, 'data');
    expandAll(view, 'invoice_payment', payments, rest);
  } else {
    const target = field === 'latest_invoice' ? 'invoice' : (field as Kind);
    const found = objects.flatMap((object) => replaceId(view, target, object, path));
    if (next !== undefined) expandAll(view, target, found, [next, ...rest]);
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

/** Replaces an id by its object. A null or missing value stays unchanged. */
function replaceId(view: View, kind: Kind, object: Json, path: string[]): Json[] {
  const [key = '', ...inner] = path;
  const value = object[key];
  if (inner.length > 0) {
    if (typeof value !== 'object' || value === null) return [];
    // Copy the hash, since it may belong to a record, and records are never changed in place.
    const copy = { ...value } as Json;
    object[key] = copy;
    return replaceId(view, kind, copy, inner);
  }
  if (typeof value === 'object' && value !== null) return [value as Json];
  if (typeof value !== 'string') return [];
  const target =
    kind === 'charge' ? findCharge(view.world, value) : collectionOf(view.world, kind).get(value);
  if (!target) return [];
  const rendered = renderObject(target, view.shape);
  object[key] = rendered;
  return [rendered];
}

function refuse(property: string, instead?: string): ApiError {
  const hint = instead ? ` You may want to try expanding '${instead}' instead.` : '';
  return new ApiError(400, `This property cannot be expanded (${property}).${hint}`);
}

/** The paths that can be expanded in every API version. The last part of a path names the kind of its object. */
const EXPANDABLE: Record<Kind, string[]> = {
  customer: [],
  subscription: ['customer', 'latest_invoice'],
  invoice: ['customer'],
  invoice_payment: ['invoice', 'payment.payment_intent'],
  payment_intent: ['customer'],
  'checkout.session': ['customer', 'subscription', 'invoice'],
  charge: ['customer', 'payment_intent'],
  refund: ['charge', 'payment_intent', 'customer'],
  dispute: ['charge', 'payment_intent'],
  credit_note: ['customer', 'invoice'],
};

/** The paths that can also be expanded before basil. */
const EXPANDABLE_BEFORE_BASIL: Partial<typeof EXPANDABLE> = {
  invoice: ['subscription', 'payment_intent'],
  payment_intent: ['invoice'],
  charge: ['invoice'],
  credit_note: ['refund'],
};

function pathsOf(kind: Kind, { basil, acacia, offStripeAmount }: Shape): string[] {
  const paths = [...EXPANDABLE[kind], ...((!basil && EXPANDABLE_BEFORE_BASIL[kind]) || [])];
  if (kind !== 'invoice') return paths;
  if (basil || acacia) paths.push('parent.subscription_details.subscription');
  if (basil) paths.push('payments');
  if (offStripeAmount) paths.push('amount_paid_off_stripe');
  return paths;
}
