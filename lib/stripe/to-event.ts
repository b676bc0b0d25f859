import type { ProviderCustomer } from './provider';
import { asId, asInstant, asIsoInstant, asObject, asText, type Json } from './read';

/**
 * The envelope of a delivery. `object` has the shape of the event's API version. An endpoint sends snapshots or thin
 * events: https://docs.stripe.com/event-destinations#thin-events
 */
export interface ProviderEvent {
  id: string;
  type: string;
  apiVersion: string | null;
  livemode: boolean;
  /** The connected account that it happened in; null: our own. */
  account: string | null;
  created: Date;
  object: Json;
  objectId: string | null;
  stripeCustomerId: string | null;
  previousAttributes: Json | null;
  /** It names its object, and does not hold it. */
  isThin: boolean;
}

/** @returns null for JSON that is no event */
export function toProviderEvent(body: unknown): ProviderEvent | null {
  const payload = asObject(body);
  const isThin = payload.object === 'v2.core.event';
  const data = isThin ? { object: {} } : asObject(payload.data);
  const [id, type] = [asText(payload.id), asText(payload.type)];
  const created = isThin ? asIsoInstant(payload.created) : asInstant(payload.created);
  const isObject = typeof data.object === 'object' && data.object !== null;
  if (id === null || type === null || created === null || !isObject) return null;
  const object = asObject(data.object);
  return {
    id,
    type,
    apiVersion: asText(payload.api_version),
    livemode: payload.livemode === true || payload.livemode === 'true',
    account: asText(payload.account),
    created,
    object,
    objectId: isThin ? asId(payload.related_object) : asText(object.id),
    stripeCustomerId: asText(object.object) === 'customer' ? asText(object.id) : asId(object.customer),
    previousAttributes: data.previous_attributes ? asObject(data.previous_attributes) : null,
    isThin,
  };
}

/** An event as the inbox keeps it. */
export function fromInbox(payload: string): ProviderEvent {
  const event = toProviderEvent(JSON.parse(payload));
  if (!event) throw new Error('the inbox holds what is no event');
  return event;
}

/** An object of an event's, which reported what it says of the customer. */
export function asReported<T extends { customer: ProviderCustomer | null }>(
  { id, created }: ProviderEvent,
  object: T | null,
): T | null {
  const customer = object?.customer;
  if (!customer) return object;
  const reportedHere = <One>(one: One) => ({ ...one, at: created, by: id });
  const [customerNumbers, details] = [
    customer.customerNumbers.map(reportedHere),
    customer.details.map(reportedHere),
  ];
  return { ...object, customer: { ...customer, customerNumbers, details } };
}
