import type { IncomingMessage } from 'node:http';
import Stripe from 'stripe';
import { z } from 'zod';
import { toEpoch } from '../dates';
import { ControlError, findCustomer } from './find-target';
import { EVENT_TYPES, makeHappen } from './happenings';
import type { WorldEvent } from './model';
import { renderEvent } from './render/object';
import { type Answer, ApiError, authorize, errorAnswer, isLoopback } from './respond';
import { act, type World, WorldError } from './world';

/** The endpoint that events are delivered to. */
export interface Webhook {
  url: string;
  secret: string;
  /** The SDK's own unless given. */
  apiVersion?: string;
}

interface ControlOptions {
  world: World;
  secretKey: string;
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

/** The answer to POST /_local/events. */
export const happenedAnswer = z.object({
  action: z.string(),
  objects: z.array(z.object({ object: z.string(), id: z.string(), number: z.string().nullable() })),
  deliveries: z.array(
    z.object({
      event_id: z.string(),
      type: z.string(),
      /** Null if the webhook did not answer, or if nothing was delivered on purpose. */
      status: z.number().nullable(),
      outcome: z.string().nullable(),
      body: z.unknown(),
    }),
  ),
});

export type HappenedAnswer = z.infer<typeof happenedAnswer>;

/** Makes things happen in the world of a running server, for programs on its machine. */
export async function answerControl(
  options: ControlOptions,
  req: IncomingMessage,
  url: URL,
): Promise<Answer> {
  try {
    if (!isLoopback(req.socket.remoteAddress)) throw new ApiError(403, 'Only this machine may ask for that.');
    authorize(req, options.secretKey);
    if (url.pathname !== '/_local/events' || req.method !== 'POST') {
      throw new ControlError(404, `There is no ${req.method} ${url.pathname}.`);
    }
    return { status: 200, body: await happen(options, parseRequest(await readBody(req))) };
  } catch (error) {
    if (error instanceof ApiError) return errorAnswer(error);
    if (error instanceof ControlError)
      return { status: error.status, body: { error: { message: error.message } } };
    if (error instanceof WorldError) return { status: 409, body: { error: { message: error.message } } };
    throw error;
  }
}

async function happen(options: ControlOptions, wanted: z.infer<typeof request>): Promise<HappenedAnswer> {
  const { world, webhook } = options;
  const customer = wanted.customer_number === undefined ? null : findCustomer(world, wanted.customer_number);
  const { object: happened, events } = act(world, () =>
    makeHappen(wanted.type, {
      world,
      customer,
      invoiceNumber: wanted.invoice_number ?? null,
      status: wanted.status,
    }),
  );
  options.onChange();
  const deliveries: HappenedAnswer['deliveries'] = [];
  for (const event of events)
    deliveries.push(await attempt(event, wanted.silent ? undefined : webhook, world));
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

async function attempt(event: WorldEvent, webhook: Webhook | undefined, world: World) {
  const delivery = { event_id: event.id, type: event.type };
  if (!webhook) return { ...delivery, status: null, outcome: null, body: null };
  try {
    const { status, body } = await deliverEvent({ ...webhook, event, now: world.now() });
    return { ...delivery, status, outcome: outcomeOf(body), body };
  } catch (error) {
    return { ...delivery, status: null, outcome: null, body: error instanceof Error ? reason(error) : null };
  }
}

function outcomeOf(body: unknown): string | null {
  const read = z.object({ outcome: z.string() }).safeParse(body);
  return read.success ? read.data.outcome : null;
}

function reason(error: Error): string {
  return error.cause instanceof Error ? error.cause.message : error.message;
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
  const parsed = request.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ControlError(422, `${issue?.path.join('.') || 'The body'}: ${issue?.message}.`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ControlError(400, 'The body is not JSON.');
  }
}

interface SignedEvent {
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
function signEvent(event: WorldEvent, signing: Signing): SignedEvent {
  return signBody(JSON.stringify(renderEvent(event, signing.apiVersion ?? Stripe.API_VERSION)), signing);
}

/** Signs any text, for deliveries that Stripe would never make. */
function signBody(body: string, { secret, now }: Pick<Signing, 'secret' | 'now'>): SignedEvent {
  const signature = Stripe.webhooks.generateTestHeaderString({
    payload: body,
    secret,
    timestamp: toEpoch(now),
  });
  return { body, headers: { 'content-type': 'application/json', 'stripe-signature': signature } };
}

const TIMEOUT_MS = 30_000;

interface DeliveryAnswer {
  status: number;
  /** Parsed where it is JSON. */
  body: unknown;
}

/** Makes one attempt; the caller decides about retries. @throws if there is no answer within 30 s */
async function deliverEvent(to: Signing & { url: string; event: WorldEvent }): Promise<DeliveryAnswer> {
  const { body, headers } = signEvent(to.event, to);
  const response = await fetch(to.url, {
    method: 'POST',
    headers: { ...headers },
    body,
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await response.text();
  return { status: response.status, body: parseAnswer(text) };
}

function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
