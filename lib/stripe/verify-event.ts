import Stripe from 'stripe';
import { type ProviderEvent, toProviderEvent } from './event';

/** Seconds a signed timestamp may lie behind or ahead of our clock. */
const TOLERANCE = 300;

export type Verified =
  | { ok: true; event: ProviderEvent; payload: string }
  | { ok: false; reason: 'invalid_signature' | 'invalid_payload' }
  /** Our secret signed it, but too long ago or in the future by our clock: `age` is in seconds. */
  | { ok: false; reason: 'wrong_time'; age: number };

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
  const signedAt = timeOf(header ?? '');
  if (!header || payload === null || signedAt === null) return { ok: false, reason: 'invalid_signature' };
  if (!secrets.some((secret) => isSigned(payload, header, secret, signedAt))) {
    return { ok: false, reason: 'invalid_signature' };
  }
  const age = now.getTime() / 1000 - signedAt;
  if (Math.floor(age) > TOLERANCE || age < -TOLERANCE) {
    return { ok: false, reason: 'wrong_time', age: Math.round(age) };
  }
  const event = parseEvent(payload);
  return event ? { ok: true, event, payload } : { ok: false, reason: 'invalid_payload' };
}

function isSigned(payload: string, header: string, secret: string, signedAt: number): boolean {
  try {
    const { signature } = Stripe.webhooks;
    return signature?.verifyHeader(payload, header, secret, TOLERANCE, undefined, signedAt * 1000) ?? false;
  } catch {
    return false; // Any error means that the header is malformed. A signature that cannot be read proves nothing.
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

/** The signed timestamp, in seconds. Null unless there is exactly one, in plain digits: the SDK reads more. */
function timeOf(header: string): number | null {
  const times = header.split(',').filter((part) => part.trim().startsWith('t='));
  const [time = ''] = times;
  const isPlain = /^[\x20-\x7e]*$/.test(header) && /^t=\d{1,15}$/.test(time);
  return isPlain && times.length === 1 ? Number(time.slice(2)) : null;
}
