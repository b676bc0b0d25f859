import Stripe from 'stripe';
import { toEpoch } from '../dates';
import type { WorldEvent } from './model';
import { renderEvent } from './render/event';

export interface SignedEvent {
  body: string;
  headers: { 'content-type': 'application/json'; 'stripe-signature': string };
}

interface Signing {
  /** whsec_… */
  secret: string;
  /** When it is signed. */
  now: Date;
  /** The endpoint's API version; the SDK's own unless given. */
  apiVersion?: string;
}

/** The request that Stripe makes for an event, signed. */
export function signEvent(event: WorldEvent, signing: Signing): SignedEvent {
  return signBody(JSON.stringify(renderEvent(event, signing.apiVersion ?? Stripe.API_VERSION)), signing);
}

/** Signs any text, for deliveries that Stripe would never make. */
export function signBody(body: string, { secret, now }: Pick<Signing, 'secret' | 'now'>): SignedEvent {
  const signature = Stripe.webhooks.generateTestHeaderString({
    payload: body,
    secret,
    timestamp: toEpoch(now),
  });
  return { body, headers: { 'content-type': 'application/json', 'stripe-signature': signature } };
}

const TIMEOUT_MS = 30_000;

export interface DeliveryAnswer {
  status: number;
  /** Parsed where it is JSON. */
  body: unknown;
}

/** Makes one attempt; the caller decides about retries. @throws if there is no answer within 30 s */
export async function deliverEvent(
  to: Signing & { url: string; event: WorldEvent },
): Promise<DeliveryAnswer> {
  const { body, headers } = signEvent(to.event, to);
  const response = await fetch(to.url, {
    method: 'POST',
    headers: { ...headers },
    body,
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await response.text();
  return { status: response.status, body: parse(text) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
