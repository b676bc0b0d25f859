import Stripe from 'stripe';
import { ENDPOINTS } from '@/lib/stripe-local/endpoints';
import { ApiError } from '@/lib/stripe-local/errors';
import { createFaults, type Fault } from '@/lib/stripe-local/faults';
import type { World } from '@/lib/stripe-local/world';
import { type Look, watch } from '../looks';

type Params = Record<string, string | number | string[] | Record<string, string | number>>;
type Answer = Record<string, unknown>;

/** Stripe's API as its SDK shows it, straight from a world. */
export class ModelApi {
  readonly faults = createFaults();
  count = 0;
  world: World | undefined;
  /** Lets others go on while somebody waits for an answer. */
  wait: () => Promise<void> = async () => {};

  client(looks: Look[]): Stripe {
    const get = (pattern: string) => (id: string, params: Params) => this.ask(pattern, id, params);
    const retrieve =
      (pattern: string) =>
      (id: string, params: Params = {}) =>
        get(pattern)(id, params);
    const list = (pattern: string) => (params: Params) => get(pattern)('', params);
    const client = {
      customers: { retrieve: retrieve('/v1/customers/:id') },
      subscriptions: { retrieve: retrieve('/v1/subscriptions/:id'), list: list('/v1/subscriptions') },
      invoices: { retrieve: retrieve('/v1/invoices/:id'), list: list('/v1/invoices') },
      subscriptionItems: { list: list('/v1/subscription_items') },
      refunds: { retrieve: retrieve('/v1/refunds/:id'), list: list('/v1/refunds') },
      disputes: { retrieve: retrieve('/v1/disputes/:id'), list: list('/v1/disputes') },
      creditNotes: { list: list('/v1/credit_notes') },
      invoicePayments: { list: list('/v1/invoice_payments') },
      checkout: { sessions: { list: list('/v1/checkout/sessions') } },
    } as unknown as Stripe;
    watch(client, (look) => looks.push(look));
    return client;
  }

  private async ask(pattern: string, id: string, params: Params): Promise<Answer> {
    await this.wait();
    const query = toQuery(params);
    const path = pattern.replace(':id', id);
    const entry = { index: this.count++, method: 'GET', path, query: Object.fromEntries(query) };
    const fault = this.faults.next(entry);
    if (fault?.kind === 'hold') {
      const made = this.answer(pattern, id, query);
      await fault.until();
      return this.send(made);
    }
    if (fault) throw errorOf(fault);
    return this.send(this.answer(pattern, id, query));
  }

  /** An error is thrown when it arrives, not when it is made. */
  private answer(pattern: string, id: string, query: URLSearchParams): Answer | ApiError {
    const { world } = this;
    const endpoint = ENDPOINTS[pattern];
    if (!world || !endpoint) throw new Error(`nobody answers ${pattern}`);
    try {
      return endpoint({ world, version: Stripe.API_VERSION }, id, query);
    } catch (error) {
      if (error instanceof ApiError) return error;
      throw error;
    }
  }

  private send(made: Answer | ApiError): Answer {
    if (made instanceof ApiError) throw toStripeError(made);
    made.lastResponse = { headers: { date: this.world?.now().toUTCString() } };
    return made;
  }
}

function toQuery(params: Params): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (Array.isArray(value)) for (const [i, one] of value.entries()) query.append(`${name}[${i}]`, one);
    else if (typeof value === 'object')
      for (const [key, one] of Object.entries(value)) query.append(`${name}[${key}]`, String(one));
    else query.append(name, String(value));
  }
  return query;
}

function toStripeError(error: ApiError): Error {
  return Stripe.errors.StripeError.generate({
    ...error.body().error,
    statusCode: error.status,
  } as never);
}

function errorOf(fault: Fault): Error {
  if (fault.kind === 'garbage') {
    return new Stripe.errors.StripeAPIError({
      message: 'Invalid JSON received from the Stripe API',
    } as never);
  }
  if (fault.kind !== 'status') throw new Error(`no history has ${fault.kind}`);
  return toStripeError(refusal(fault.status));
}

function refusal(status: number): ApiError {
  if (status === 404) return new ApiError(404, 'No such object.', 'resource_missing', 'id');
  if (status === 400) return new ApiError(400, 'This cannot be asked for.', 'resource_missing', 'customer');
  if (status === 429) return new ApiError(429, 'Request rate limit exceeded.', 'rate_limit');
  return new ApiError(status, 'An unknown error occurred.', undefined, undefined, 'api_error');
}
