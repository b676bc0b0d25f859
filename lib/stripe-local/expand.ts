import { findCharge } from './charges';
import type { WorldObject } from './model';
import { EMBEDDED } from './render/billing';
import type { Shape } from './render/object';
import { embeddedList, type Json } from './render/shape';
import { ApiError } from './respond';
import { collectionOf, type World } from './world';

const MAX_LEVELS = 4;

type Kind = WorldObject['object'];

/** The world to read objects from, and the API version in which they are rendered. */
export interface View {
  world: World;
  shape: Shape;
}

/**
 * Replaces ids in rendered objects of one kind with the objects, as the parameter `expand` of Stripe's API does.
 *
 * @param paths the requested paths; for a list, each starts with `data.`
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
  const path = view.shape.expandable[kind].find((known) => wanted.startsWith(`${known}.`))?.split('.');
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
    const found = objects.flatMap((object) =>
      replaceId(view, field === 'source' ? kindOf(object.source) : target, object, path),
    );
    if (field === 'source' && next !== undefined) throw refuse(next);
    if (next !== undefined) expandAll(view, target, found, [next, ...rest]);
  }
}

/** Returns the kind of a balance transaction's source, by the prefix of the source's id. */
function kindOf(source: unknown): Kind {
  const [prefix = ''] = String(source).split('_');
  return ({ re: 'refund', dp: 'dispute', po: 'payout' } as const)[prefix] ?? 'charge';
}

function includePayments(view: View, object: Json): Json[] {
  const present = object.payments as { data: Json[] } | undefined;
  if (present) return present.data;
  const id = String(object.id);
  const payments = [...view.world.invoicePayments.where('invoice', id)].reverse().map(view.shape.render);
  object.payments = embeddedList(payments, `/v1/invoice_payments?invoice=${id}`, EMBEDDED);
  return payments;
}

/** Replaces the id at a path with the object. @returns the object in an array, which is empty if nothing was found */
function replaceId(view: View, kind: Kind, object: Json, path: string[]): Json[] {
  const [key = '', ...inner] = path;
  const value = object[key];
  if (inner.length > 0) {
    if (typeof value !== 'object' || value === null) return [];
    // Copy the nested object. It may belong to a record, and records are never changed in place.
    const copy = { ...value } as Json;
    object[key] = copy;
    return replaceId(view, kind, copy, inner);
  }
  if (typeof value === 'object' && value !== null) return [value as Json];
  if (typeof value !== 'string') return [];
  const target =
    kind === 'charge' ? findCharge(view.world, value) : collectionOf(view.world, kind).get(value);
  if (!target) return [];
  const rendered = view.shape.render(target);
  object[key] = rendered;
  return [rendered];
}

function refuse(property: string, instead?: string): ApiError {
  const hint = instead ? ` You may want to try expanding '${instead}' instead.` : '';
  return new ApiError(400, `This property cannot be expanded (${property}).${hint}`);
}
