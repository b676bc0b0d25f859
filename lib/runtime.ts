import { randomBytes, randomUUID } from 'node:crypto';
import { accessSync, constants, mkdirSync } from 'node:fs';
import type Stripe from 'stripe';
import { type DatabaseHandle, openEmbedded, openPostgres } from '@/db/client';
import type { Database } from '@/db/database';
import { isDatabaseUnavailable } from '@/db/database';
import { DataDirBusyError } from '@/db/lock';
import { isMigrated, migrate } from '@/db/migrate';
import { type Env, isBuilding, readEnv } from './env';
import { StartError } from './errors';
import { createLogger, type Logger, stackOf } from './log';
import { createStripeClient } from './stripe/client';

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
}

// Next bundles pages, routes and instrumentation separately: a module variable would exist three times.
const KEY = Symbol.for('w5t.runtime');
const holder = globalThis as { [KEY]?: Promise<Runtime> | undefined };

/** The runtime of this process, built at the first call. */
export function getRuntime(): Promise<Runtime> {
  holder[KEY] ??= openRuntime().catch((error: unknown) => {
    holder[KEY] = undefined;
    throw error;
  });
  return holder[KEY];
}

/** The runtime, or null where it cannot be had: why was logged, and the caller answers 503. */
export function runtimeOrNull(): Promise<Runtime | null> {
  return getRuntime().catch((error: unknown) => {
    const sentences = error instanceof StartError ? error.sentences : undefined;
    createLogger('error').error({ sentences, stack: stackOf(error) }, 'the service cannot start');
    return null;
  });
}

async function openRuntime(): Promise<Runtime> {
  if (isBuilding()) throw new Error('The build must not open the database: read the request before it.');
  return createRuntime(readEnv());
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
export async function createRuntime(env: Env): Promise<Runtime> {
  const handle = await openDatabase(env);
  return {
    ...worldOf(env),
    env,
    db: handle.db,
    stripe: env.stripe.secretKey ? createStripeClient(env.stripe.secretKey, env.stripe.apiBase) : null,
    close: () => handle.close(),
  };
}

/** The clock, chance and log of this process. */
export function worldOf(env: Pick<Env, 'logLevel'>): Pick<Runtime, 'now' | 'newId' | 'randomBytes' | 'log'> {
  return { now: () => new Date(), newId: randomUUID, randomBytes, log: createLogger(env.logLevel) };
}

/** Opens the configured database and makes sure that it has this version's schema. */
export async function openDatabase(env: Env): Promise<DatabaseHandle> {
  return env.databaseUrl ? openServerDatabase(env.databaseUrl) : openEmbeddedDatabase(env.dataDir);
}

async function openServerDatabase(url: string): Promise<DatabaseHandle> {
  const handle = openPostgres(url);
  try {
    if (await isMigrated(handle.db)) return handle;
  } catch (error) {
    await handle.close();
    throw isDatabaseUnavailable(error)
      ? new StartError(['The database of DATABASE_URL does not answer: start it, or correct its address.'])
      : new StartError(['The database of DATABASE_URL refused us: check its user, password and name.']);
  }
  await handle.close();
  throw new StartError(['The database of DATABASE_URL is not migrated: run npm run db:migrate first.']);
}

async function openEmbeddedDatabase(dataDir: string): Promise<DatabaseHandle> {
  try {
    mkdirSync(dataDir, { recursive: true });
    accessSync(dataDir, constants.W_OK);
  } catch {
    throw new StartError([
      `DATA_DIR ${dataDir} cannot be written: give another folder or change its permissions.`,
    ]);
  }
  try {
    const handle = await openEmbedded(dataDir);
    await migrate(handle);
    return handle;
  } catch (error) {
    if (!(error instanceof DataDirBusyError)) throw error;
    throw new StartError([
      `The embedded database in ${dataDir} is in use by process ${error.pid}: stop that process, give another DATA_DIR, or set DATABASE_URL to use PostgreSQL.`,
    ]);
  }
}
