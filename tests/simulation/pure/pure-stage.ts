import { setImmediate } from 'node:timers/promises';
import Stripe from 'stripe';
import type { Database } from '@/db/database';
import type { Logger } from '@/lib/log';
import { toProviderEvent } from '@/lib/stripe/event';
import { ENDPOINTS } from '@/lib/stripe-local/api';
import { CURRENT } from '@/lib/stripe-local/render/object';
import { ApiError } from '@/lib/stripe-local/respond';
import type { World } from '@/lib/stripe-local/world';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import { createFaults, type Fault } from '../../support/stripe-server';
import type { Look } from '../oracle/story';
import type { Scene, Stage } from '../stage';
import { watch } from '../stripe-api';
import { toTables } from '../tables';
import { takeModelEvent } from './inbox';
import { Model, type ModelProcess } from './model';
import { reconcileModel } from './night';

const NO_DATABASE = new Proxy({} as Database, {
  get: (_, name) => {
    throw new Error(`the model has no database, but it is asked for ${String(name)}`);
  },
});
const silent = () => {};
const NO_LOG = { info: silent, warn: silent, error: silent } as unknown as Logger;

const openModel = ({ seed, now }: Scene) => new Model(seed, now);

/** Opens a stage that runs sync on in-memory tables, which is fast because no I/O happens. */
export function openPureStage(open: (scene: Scene) => Model | Promise<Model> = openModel): Stage {
  const api = new ModelApi();
  let scene: Scene | undefined;
  let model: Model | undefined;
  let shared: ModelProcess | undefined;
  const current = () => {
    if (!scene || !model || !shared) throw new Error('the stage is empty');
    return { scene, model, shared };
  };
  const depsOf = (
    { hasKey, now, timeZone, linkByEmail }: Scene,
    store: ModelProcess,
    looks: Look[],
  ): SyncDeps => ({
    db: NO_DATABASE,
    store,
    stripe: hasKey ? api.client(looks) : null,
    mode: null,
    now,
    log: NO_LOG,
    timeZone,
    linkByEmail,
    eventRetentionDays: 180,
    documentRetentionYears: 8,
    toolCallRetentionDays: 90,
  });
  return {
    faults: api.faults,
    requestCount: () => api.count,
    async begin(given) {
      await setImmediate(); // This is the only moment of a history at which the process can receive a message.
      scene = given;
      const made = await open(given);
      model = made;
      shared = made.process(undefined);
      api.world = given.world;
      api.wait = () => made.turns.wait();
      api.faults.clear();
    },
    async receive({ rendered, body, crash, isOwnProcess, isReplay = false }, looks) {
      const { scene, model, shared } = current();
      const process = isOwnProcess ? model.process(crash) : model.process(undefined, shared.scope);
      const event = toProviderEvent(rendered);
      if (!event) throw new Error('the world renders events');
      const deps = depsOf(scene, process, looks);
      const given = { event, payload: body, again: isReplay };
      const isDropped = model.tables.rows.events.get(event.id)?.payload === '';
      if (isReplay && isDropped) return { status: 200, answer: 'dropped', ...process.went };
      try {
        const outcome = await model.turns.doing(() => takeModelEvent(process, deps, given));
        return { status: 200, answer: JSON.stringify({ received: true, outcome }), ...process.went };
      } catch (error) {
        const answer = error instanceof Error ? String(error.stack) : String(error);
        return { status: 500, answer, ...process.went };
      }
    },
    async reconcile(crash, looks) {
      const { scene, model } = current();
      const process = model.process(crash);
      const deps = depsOf(scene, process, looks);
      try {
        const result = await model.turns.doing(() => reconcileModel(model, process, deps));
        return { result, ...process.went };
      } catch (error) {
        if (!process.went.crashed) throw error;
        return { result: null, ...process.went };
      }
    },
    hands() {
      const { scene, model, shared } = current();
      return model.hands(shared, depsOf(scene, shared, []));
    },
    async tables() {
      const { tables, failures, payouts } = current().model;
      const open = failures.filter((one) => !one.resolved).map(({ stripeId }) => stripeId);
      return toTables(tables.rows, {
        failures: [...new Set(open)],
        payouts: [...payouts.values()].map(({ id, ...row }) => ({ stripe_payout_id: id, ...row })),
      });
    },
    lastChanges: async (count) => current().model.tables.runChanges.slice(-count).reverse(),
    close: async () => {},
  };
}

type Params = Record<string, string | number | string[] | Record<string, string | number>>;
type Answer = Record<string, unknown>;

/** Creates clients with the interface of Stripe's SDK that read the `World` without HTTP. */
export class ModelApi {
  readonly faults = createFaults();
  count = 0;
  world: World | undefined;
  /** Lets other work continue while a request waits for its answer. */
  wait: () => Promise<void> = async () => {};

  client(looks: Look[]): Stripe {
    const get = (pattern: string) => (id: string, params: Params) => this.ask(pattern, id, params);
    const retrieve =
      (pattern: string) =>
      (id: string, params: Params = {}) =>
        get(pattern)(id, params);
    const list = (pattern: string) => (params: Params) => get(pattern)('', params);
    const client = {
      accounts: { retrieveCurrent: (params: Params = {}) => this.ask('/v1/account', '', params) },
      customers: { retrieve: retrieve('/v1/customers/:id') },
      subscriptions: { retrieve: retrieve('/v1/subscriptions/:id'), list: list('/v1/subscriptions') },
      invoices: {
        retrieve: retrieve('/v1/invoices/:id'),
        list: list('/v1/invoices'),
        listLineItems: retrieve('/v1/invoices/:id/lines'),
      },
      subscriptionItems: { list: list('/v1/subscription_items') },
      refunds: { retrieve: retrieve('/v1/refunds/:id'), list: list('/v1/refunds') },
      disputes: { retrieve: retrieve('/v1/disputes/:id'), list: list('/v1/disputes') },
      creditNotes: { list: list('/v1/credit_notes') },
      invoicePayments: { list: list('/v1/invoice_payments') },
      checkout: { sessions: { list: list('/v1/checkout/sessions') } },
      payouts: { list: list('/v1/payouts') },
      balanceTransactions: { list: list('/v1/balance_transactions') },
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

  /** Returns an `ApiError` instead of throwing it. The caller throws it when the answer arrives. */
  private answer(pattern: string, id: string, query: URLSearchParams): Answer | ApiError {
    const { world } = this;
    const endpoint = ENDPOINTS[pattern];
    if (!world || !endpoint) throw new Error(`no endpoint ${pattern}`);
    try {
      return endpoint({ world, shape: CURRENT }, id, query);
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
