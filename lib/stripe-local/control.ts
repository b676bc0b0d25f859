import type { IncomingMessage } from 'node:http';
import Stripe from 'stripe';
import { z } from 'zod';
import { toEpoch } from '../dates';
import type { ApiOptions } from './api';
import { ControlError, EVENT_TYPES, findCustomer, triggerEvent } from './happenings';
import type { WorldEvent } from './model';
import { renderEvent, type Shape } from './render/object';
import { type Answer, ApiError, authorize, parseJson } from './respond';
import { act, WorldError } from './world';

/** URL and signing secret of the endpoint that receives the events. */
export interface Webhook {
  url: string;
  secret: string;
}

interface ControlOptions extends ApiOptions {
  webhook?: Webhook;
  onChange(): void;
}

const request = z.strictObject({
  type: z.enum(EVENT_TYPES, { error: `must be one of ${EVENT_TYPES.join(', ')}` }),
  customer_number: z.string().min(1).optional(),
  invoice_number: z.string().min(1).optional(),
  status: z.string().min(1).optional(),
  silent: z.boolean().default(false),
});

/** The response body of POST /_local/events. */
export const triggerAnswer = z.object({
  action: z.string(),
  objects: z.array(z.object({ object: z.string(), id: z.string(), number: z.string().nullable() })),
  deliveries: z.array(
    z.object({
      event_id: z.string(),
      type: z.string(),
      /** HTTP status of the response. Null if the webhook did not respond, or if the event was not sent to it. */
      status: z.number().nullable(),
      outcome: z.string().nullable(),
      body: z.unknown(),
    }),
  ),
});

export type TriggerAnswer = z.infer<typeof triggerAnswer>;

const LOOPBACK = ['127.0.0.1', '::1', '::ffff:127.0.0.1'];

/**
 * Handles a request to the control API, with which programs on this machine trigger events on a running server.
 */
export async function answerControl(
  options: ControlOptions,
  req: IncomingMessage,
  url: URL,
): Promise<Answer> {
  try {
    if (!LOOPBACK.includes(req.socket.remoteAddress ?? ''))
      throw new ApiError(403, 'Only this machine may send this request.');
    authorize(req, options.secretKey);
    if (url.pathname !== '/_local/events' || req.method !== 'POST') {
      throw new ControlError(404, `There is no ${req.method} ${url.pathname}.`);
    }
    return { status: 200, body: await trigger(options, parseRequest(await readBody(req))) };
  } catch (error) {
    if (error instanceof ApiError) return error.answer();
    const isKnown = error instanceof ControlError || error instanceof WorldError;
    if (!isKnown) throw error;
    const status = error instanceof ControlError ? error.status : 409;
    return { status, body: { error: { message: error.message } } };
  }
}

async function trigger(options: ControlOptions, wanted: z.infer<typeof request>): Promise<TriggerAnswer> {
  const { world, shape, webhook } = options;
  const customer = wanted.customer_number === undefined ? null : findCustomer(world, wanted.customer_number);
  const { object: happened, events } = act(world, () =>
    triggerEvent(wanted.type, {
      world,
      customer,
      invoiceNumber: wanted.invoice_number ?? null,
      status: wanted.status,
    }),
  );
  options.onChange();
  const deliveries: TriggerAnswer['deliveries'] = [];
  for (const event of events)
    deliveries.push(await attempt(event, wanted.silent ? undefined : webhook, world.now(), shape));
  return {
    action: happened.action,
    objects: happened.objects.map((object) => ({
      object: object.object,
      id: object.id,
      number: object.object === 'invoice' ? object.number : null,
    })),
    deliveries,
  };
}

async function attempt(event: WorldEvent, webhook: Webhook | undefined, now: Date, shape?: Shape) {
  const delivery = { event_id: event.id, type: event.type, status: null, outcome: null, body: null };
  if (!webhook) return delivery;
  try {
    const { status, body } = await deliverEvent(event, webhook, now, shape);
    const read = z.object({ outcome: z.string() }).safeParse(body);
    return { ...delivery, status, outcome: read.data?.outcome ?? null, body };
  } catch (error) {
    if (!(error instanceof Error)) return delivery;
    return { ...delivery, body: error.cause instanceof Error ? error.cause.message : error.message };
  }
}

const TIMEOUT_MS = 30_000;

/** Sends one signed webhook request, as Stripe does for an event. @throws if it fails or takes more than 30 s */
async function deliverEvent(event: WorldEvent, { url, secret }: Webhook, now: Date, shape?: Shape) {
  const payload = JSON.stringify(renderEvent(event, shape));
  const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: toEpoch(now) });
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'stripe-signature': signature },
    body: payload,
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await response.text();
  return { status: response.status, body: parseJson(text, text) };
}

const MAX_BODY = 64 * 1024;

async function readBody(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY) throw new ControlError(413, 'The body is too long.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseRequest(text: string): z.infer<typeof request> {
  const value = parseJson(text, undefined);
  if (value === undefined) throw new ControlError(400, 'The body is not JSON.');
  const parsed = request.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ControlError(422, `${issue?.path.join('.') || 'The body'}: ${issue?.message}.`);
}
