import Stripe from 'stripe';
import { type ProviderEvent, toProviderEvent } from './to-event';

/** Seconds a signed timestamp may lie behind or ahead of our clock. */
const TOLERANCE = 300;

export type Verified =
  | { ok: true; event: ProviderEvent; payload: string }
  | { ok: false; reason: 'invalid_signature' | 'invalid_payload' };

/**
 * Checks a delivery's signature over its bytes, then reads it.
 * https://docs.stripe.com/webhooks#verify-manually
 *
 * @param secrets any of them may have signed (rotation); none: nothing is valid
 */
export function verifyEvent(
  bytes: Uint8Array,
  header: string | null,
  secrets: string[],
  now: Date,
): Verified {
  const payload = decodeExactly(bytes);
  if (!header || payload === null || !isTimely(header, now)) {
    return { ok: false, reason: 'invalid_signature' };
  }
  if (!secrets.some((secret) => isSigned(payload, header, secret, now))) {
    return { ok: false, reason: 'invalid_signature' };
  }
  const event = parseEvent(payload);
  return event ? { ok: true, event, payload } : { ok: false, reason: 'invalid_payload' };
}

function isSigned(payload: string, header: string, secret: string, now: Date): boolean {
  try {
    const { signature } = Stripe.webhooks;
    return signature?.verifyHeader(payload, header, secret, TOLERANCE, undefined, now.getTime()) ?? false;
  } catch {
    return false; // whatever it stumbles over, `v1=` among it: what cannot be read proves nothing
  }
}

function parseEvent(payload: string): ProviderEvent | null {
  try {
    return toProviderEvent(JSON.parse(payload));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** The SDK would drop a BOM and mend broken UTF-8 before it verifies: a changed body would pass. */
function decodeExactly(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Of one timestamp, plain characters, and not from the future, all of which the SDK would let pass. */
function isTimely(header: string, now: Date): boolean {
  const times = header.split(',').filter((part) => part.trim().startsWith('t='));
  const [time = ''] = times;
  const isPlain = /^[\x20-\x7e]*$/.test(header) && /^t=\d{1,15}$/.test(time);
  return isPlain && times.length === 1 && Number(time.slice(2)) <= now.getTime() / 1000 + TOLERANCE;
}
