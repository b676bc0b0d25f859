import { randomBytes, randomUUID } from 'node:crypto';
import { tracingChannel } from 'node:diagnostics_channel';
import { setTimeout as sleep } from 'node:timers/promises';
import Stripe from 'stripe';
import type { DatabaseHandle } from '@/db/client';
import type { Database } from '@/db/database';
import { isSchemaDoubted, trustSchema } from '@/db/failed-statements';
import { type Env, isBuilding, readEnv } from './env';
import { AppError, NotMigratedError, StartError } from './errors';
import { createLogger, type Logger, stackOf } from './log';
import { type OpenOptions, openDatabase, requireMigrated } from './open-database';

/** The external dependencies of the service. Tests replace them. */
export interface Runtime {
  env: Env;
  db: Database;
  /** The Stripe client. Null if STRIPE_SECRET_KEY is not set. */
  stripe: Stripe | null;
  now(): Date;
  newId(): string;
  randomBytes(size: number): Buffer;
  log: Logger;
  close(): Promise<void>;
  /** In tests, replaces the https request that reads a JSON document from a public URL. */
  fetchDocument?: (url: URL) => Promise<unknown>;
  /** Copies the database into memory, for dry runs. Undefined for a PostgreSQL server. */
  copyDatabase?: () => Promise<DatabaseHandle>;
  /** Returns the contents of a backup file. Undefined for a PostgreSQL server. */
  dumpDatabase?: () => Promise<Blob>;
}

/** How many milliseconds the server waits while a command has the embedded database open. Most commands end soon. */
const PATIENCE_MS = 10_000;

// Keep the runtime on `globalThis`. Our server and Next's pages, routes and instrumentation are separate bundles, and
// each has its own module variables.
const KEY = Symbol.for('w5t.runtime');
const holder = globalThis as { [KEY]?: Promise<Runtime> | undefined };

/**
 * Returns the runtime of this process. The first call creates it.
 *
 * @throws StartError if the service cannot start; NotMigratedError if the database does not have this version's schema,
 *   which is checked at the first call, and again after a statement failed because, for example, a table is missing
 */
export async function getRuntime(): Promise<Runtime> {
  holder[KEY] ??= openRuntime().catch((error: unknown) => {
    holder[KEY] = undefined;
    throw error;
  });
  const runtime = await holder[KEY];
  if (isSchemaDoubted()) await verifySchema(runtime.db);
  return runtime;
}

/** Returns the runtime if `getRuntime` has created it, without checking the database. Otherwise returns null. */
export async function builtRuntime(): Promise<Runtime | null> {
  return (await holder[KEY]?.catch(() => null)) ?? null;
}

/**
 * Returns the runtime, or a 503 error if it cannot be created or the database does not have this version's schema. Logs
 * the reason and sets it as the error's cause.
 */
export function runtimeOrError(): Promise<Runtime | AppError> {
  return getRuntime().catch((error: unknown) => {
    const sentences = error instanceof StartError ? error.sentences : undefined;
    createLogger('error').error({ sentences, stack: stackOf(error) }, 'the service cannot start');
    return cannotServe(error);
  });
}

/** Returns a 503 error if a database without this version's schema caused `error`. Otherwise returns `error` itself. */
export async function explainFailure({ db }: Pick<Runtime, 'db'>, error: unknown): Promise<unknown> {
  if (!isSchemaDoubted()) return error;
  const found = await verifySchema(db).catch((cause: unknown) => cause);
  return found instanceof NotMigratedError ? cannotServe(found) : error;
}

function cannotServe(cause: unknown): AppError {
  const sentence =
    cause instanceof NotMigratedError ? cause.message : 'The service cannot start. Try again later.';
  return Object.assign(new AppError('unavailable', sentence), { cause });
}

async function verifySchema(db: Database): Promise<void> {
  await requireMigrated(db);
  trustSchema();
}

async function openRuntime(): Promise<Runtime> {
  if (isBuilding()) throw new Error('The build must not open the database: read the request before it.');
  return createRuntime(readEnv(), { patience: PATIENCE_MS });
}

/** Replaces the runtime of this process in tests. With undefined, the next `getRuntime` creates a new one. */
export function setRuntime(runtime: Runtime | undefined): void {
  holder[KEY] = runtime && Promise.resolve(runtime);
}

/**
 * Opens the database and creates the runtime. An embedded database is migrated first.
 *
 * @throws StartError that says what to do if the database cannot be used
 */
export async function createRuntime(env: Env, options: OpenOptions = {}): Promise<Runtime> {
  const handle = await openDatabase(env, options);
  return {
    ...baseRuntime(env),
    env,
    db: handle.db,
    stripe: env.stripe.secretKey ? createStripeClient(env.stripe.secretKey, env.stripe.apiBase) : null,
    close: () => handle.close(),
    ...(handle.copy && { copyDatabase: handle.copy }),
    ...(handle.dump && { dumpDatabase: handle.dump }),
  };
}

/** Returns the part of a runtime that needs no database: clock, ids, random bytes and log. */
export function baseRuntime(
  env: Pick<Env, 'logLevel'>,
): Pick<Runtime, 'now' | 'newId' | 'randomBytes' | 'log'> {
  return { now: () => new Date(), newId: randomUUID, randomBytes, log: createLogger(env.logLevel) };
}

/** Rate limit of a process's requests to Stripe, well below the 25 per second of Stripe's test mode. */
const REQUESTS_PER_SECOND = 10;

/**
 * Creates a Stripe client with a rate limit. It tries a request up to three times, each with a timeout of 10 s.
 *
 * @param apiBase URL of another Stripe API, for tests and the demo
 */
export function createStripeClient(
  secretKey: string,
  apiBase: string | null,
  requestsPerSecond = REQUESTS_PER_SECOND,
): Stripe {
  const base = apiBase ? new URL(apiBase) : null;
  return new Stripe(secretKey, {
    timeout: 10_000,
    maxNetworkRetries: 2,
    telemetry: false,
    httpClient: createRateLimitedClient(requestsPerSecond),
    ...(base && {
      host: base.hostname,
      port: base.port || (base.protocol === 'https:' ? 443 : 80),
      protocol: base.protocol === 'https:' ? 'https' : 'http',
    }),
  });
}

/** A call to Stripe. When the call starts, tracing adds its own headers to `headers`. */
export interface StripeCall {
  name: string;
  headers: Record<string, string>;
}

/** Diagnostics channel to which each call to Stripe is published, for tracing. */
export const stripeCalls = tracingChannel<unknown, StripeCall>('w5t.stripe-call');

/** Pattern of an id in a path of Stripe's API, such as `/cus_1`. */
const STRIPE_ID = /\/[a-z]+_[^/]*\d[^/]*/gi;

function createRateLimitedClient(requestsPerSecond: number) {
  const client = Stripe.createNodeHttpClient();
  const pass = createGate(requestsPerSecond);
  const request = client.makeRequest.bind(client);
  client.makeRequest = async (
    ...[host, port, path, method, headers, ...rest]: Parameters<typeof request>
  ) => {
    await pass();
    const route = path.split('?', 1)[0]?.replaceAll(STRIPE_ID, '/{id}');
    const call: StripeCall = { name: `${method} ${route}`, headers: {} };
    return stripeCalls.tracePromise(
      () => request(host, port, path, method, { ...headers, ...call.headers }, ...rest),
      call,
    );
  };
  return client;
}

/** Creates a rate limiter that lets callers pass one after the other, at most `perSecond` per second. */
function createGate(perSecond: number): () => Promise<void> {
  let last: Promise<unknown> = Promise.resolve();
  return async () => {
    const before = last;
    last = before.then(() => sleep(1000 / perSecond));
    await before;
  };
}
