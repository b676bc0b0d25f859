import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Stripe from 'stripe';

export const WEBHOOK_SECRET = 'whsec_test_secret';

const FIXTURES = join(process.cwd(), '../shared/fixtures/events');

export interface Fixture {
  type: string;
  file: string;
  read(): Record<string, unknown>;
}

/** Recorded Stripe events of many API versions, where they are at hand; the project does not need them. */
export function recordedEvents(): Fixture[] {
  if (!existsSync(FIXTURES)) return [];
  return readdirSync(FIXTURES).flatMap((type) =>
    readdirSync(join(FIXTURES, type)).map((file) => ({
      type,
      file: `${type}/${file}`,
      read: () => JSON.parse(readFileSync(join(FIXTURES, type, file), 'utf8')),
    })),
  );
}

/** The header of a signed delivery. */
export function signatureOf(payload: string, now: Date, secret = WEBHOOK_SECRET): string {
  return Stripe.webhooks.generateTestHeaderString({
    payload,
    secret,
    timestamp: Math.floor(now.getTime() / 1000), // seconds, whatever its comment says
  });
}

/** Posts a signed event to a webhook. */
export function postEvent(
  url: string,
  event: unknown,
  now: Date,
  options: { header?: string; body?: string } = {},
): Promise<Response> {
  const payload = JSON.stringify(event);
  return fetch(`${url}/api/stripe/webhook`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'Stripe-Signature': options.header ?? signatureOf(payload, now),
    },
    body: options.body ?? payload,
  });
}

/** The same, and what it is answered. */
export async function deliver(
  ...delivery: Parameters<typeof postEvent>
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await postEvent(...delivery);
  return { status: response.status, body: await response.json() };
}
