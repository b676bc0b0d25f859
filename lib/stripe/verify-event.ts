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
  if (!header || isFromTheFuture(header, now)) return { ok: false, reason: 'invalid_signature' };
  for (const secret of secrets) {
    const body = constructEvent(bytes, header, secret, now);
    if (body === INVALID_SIGNATURE) continue;
    const event = toProviderEvent(body);
    if (!event) return { ok: false, reason: 'invalid_payload' };
    return { ok: true, event, payload: Buffer.from(bytes).toString('utf8') };
  }
  return { ok: false, reason: 'invalid_signature' };
}

const INVALID_SIGNATURE = Symbol('invalid signature');

function constructEvent(bytes: Uint8Array, header: string, secret: string, now: Date): unknown {
  try {
    return Stripe.webhooks.constructEvent(
      Buffer.from(bytes),
      header,
      secret,
      TOLERANCE,
      undefined,
      now.getTime(),
    );
  } catch (error) {
    // Anything else is thrown after the signature proved right: signed, but no event.
    return error instanceof Stripe.errors.StripeSignatureVerificationError ? INVALID_SIGNATURE : null;
  }
}

/** The SDK refuses only timestamps that are too old. */
function isFromTheFuture(header: string, now: Date): boolean {
  const timestamp = Number(/(?:^|,)t=(\d+)/.exec(header)?.[1]);
  return timestamp > now.getTime() / 1000 + TOLERANCE;
}
