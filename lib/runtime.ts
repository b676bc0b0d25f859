import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import Stripe from 'stripe';
import type { DatabaseHandle } from '@/db/client';
import type { Database } from '@/db/database';
import { isSchemaDoubted, trustSchema } from '@/db/failed-statements';
import { type Env, isBuilding, readEnv } from './env';
import { AppError, NotMigratedError, StartError } from './errors';
import { createLogger, type Logger, stackOf } from './log';
import { type OpenOptions, openDatabase, requireMigrated } from './open-database';

/** What the world gives us; tests put their own in its place. */
export interface Runtime {
  env: Env;
  db: Database;
  /** Null without STRIPE_SECRET_KEY. */
  stripe: Stripe | null;
  now(): Date;
  newId(): string;
  randomBytes(size: number): Buffer;
  log: Logger;
  close(): Promise<void>;
  /** Reads the JSON at a public address, in place of an https request. */
  fetchDocument?: (url: URL) => Promise<unknown>;
  /** Of an embedded database: one in memory as it is now, to try things out on. */
  copyDatabase?: () => Promise<DatabaseHandle>;
  /** Of an embedded database: all of it as it is now, as a file's contents. */
  dumpDatabase?: () => Promise<Blob>;
}

/** A command that has the embedded database open ends soon. */
const PATIENCE_MS = 10_000;

// Next bundles pages, routes and instrumentation separately: a module variable would exist three times.
const KEY = Symbol.for('w5t.runtime');
const holder = globalThis as { [KEY]?: Promise<Runtime> | undefined };

/**
 * The runtime of this process, built at the first call.
 *
 * @throws NotMigratedError while the database is older than the code: asked when the runtime is built, and
 *   again after a statement that failed as if it were
 */
export async function getRuntime(): Promise<Runtime> {
  holder[KEY] ??= openRuntime().catch((error: unknown) => {
    holder[KEY] = undefined;
    throw error;
  });
  const runtime = await holder[KEY];
  if (isSchemaDoubted()) await settleDoubt(runtime.db);
  return runtime;
}

/** The runtime where it is built, without a look at the database; null where it is not. */
export async function builtRuntime(): Promise<Runtime | null> {
  return (await holder[KEY]?.catch(() => null)) ?? null;
}

/** The runtime, or the 503 to answer where it cannot be had: why was logged, and is its cause. */
export function runtimeOrError(): Promise<Runtime | AppError> {
  return getRuntime().catch((error: unknown) => {
    const sentences = error instanceof StartError ? error.sentences : undefined;
    createLogger('error').error({ sentences, stack: stackOf(error) }, 'the service cannot start');
    return cannotServe(error);
  });
}

/** An error of a request, or what is behind it: 503 where the database is older than the code. */
export async function explainFailure({ db }: Pick<Runtime, 'db'>, error: unknown): Promise<unknown> {
  if (!isSchemaDoubted()) return error;
  const found = await settleDoubt(db).catch((cause: unknown) => cause);
  return found instanceof NotMigratedError ? cannotServe(found) : error;
}

function cannotServe(cause: unknown): AppError {
  const sentence =
    cause instanceof NotMigratedError ? cause.message : 'The service cannot start. Try again later.';
  return Object.assign(new AppError('unavailable', sentence), { cause });
}

async function settleDoubt(db: Database): Promise<void> {
  await requireMigrated(db);
  trustSchema();
}

async function openRuntime(): Promise<Runtime> {
  if (isBuilding()) throw new Error('The build must not open the database: read the request before it.');
  return createRuntime(readEnv(), { patience: PATIENCE_MS });
}

/** Puts a runtime in place of the process's own; undefined takes it away again. */
export function setRuntime(runtime: Runtime | undefined): void {
  holder[KEY] = runtime && Promise.resolve(runtime);
}

/**
 * Opens the database (migrating the embedded one) and puts everything together.
 *
 * @throws StartError when the database cannot be used, saying what to do
 */
export async function createRuntime(env: Env, options: OpenOptions = {}): Promise<Runtime> {
  const handle = await openDatabase(env, options);
  return {
    ...worldOf(env),
    env,
    db: handle.db,
    stripe: env.stripe.secretKey ? createStripeClient(env.stripe.secretKey, env.stripe.apiBase) : null,
    close: () => handle.close(),
    ...(handle.copy && { copyDatabase: handle.copy }),
    ...(handle.dump && { dumpDatabase: handle.dump }),
  };
}

/** The clock, chance and log of this process. */
export function worldOf(env: Pick<Env, 'logLevel'>): Pick<Runtime, 'now' | 'newId' | 'randomBytes' | 'log'> {
  return { now: () => new Date(), newId: randomUUID, randomBytes, log: createLogger(env.logLevel) };
}

/** Of our own, well below the 25 that Stripe's test mode takes. */
const REQUESTS_PER_SECOND = 10;

/**
 * The Stripe SDK with bounded waiting (three tries of 10 s) and bounded haste.
 *
 * @param apiBase address of another Stripe API, for tests and the demo
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
    httpClient: unhurried(requestsPerSecond),
    ...(base && {
      host: base.hostname,
      port: base.port || (base.protocol === 'https:' ? 443 : 80),
      protocol: base.protocol === 'https:' ? 'https' : 'http',
    }),
  });
}

function unhurried(requestsPerSecond: number) {
  const client = Stripe.createNodeHttpClient();
  const pass = createGate(requestsPerSecond);
  const request = client.makeRequest.bind(client);
  client.makeRequest = async (...args: Parameters<typeof request>) => {
    await pass();
    return request(...args);
  };
  return client;
}

/** Lets callers through one after the other, so many a second and no more. */
function createGate(perSecond: number): () => Promise<void> {
  let last: Promise<unknown> = Promise.resolve();
  return async () => {
    const before = last;
    last = before.then(() => sleep(1000 / perSecond));
    await before;
  };
}
