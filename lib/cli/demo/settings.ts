import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import nextEnv from '@next/env';
import { z } from 'zod';
import { commandActor } from '../../audit/audit-log';
import { parseEnv } from '../../env';
import { StartError } from '../../errors';
import { inheritedEnv } from '../../inherited-env';
import { baseRuntime } from '../../runtime';

const settings = z.object({
  cronSecret: z.string(),
  webhookSecret: z.string(),
  betterAuthSecret: z.string(),
  stripeSecretKey: z.string(),
  staffEmail: z.string(),
  staffPassword: z.string(),
  /**
   * URL of the demo's local Stripe. It stays in the file after the demo has ended. Null while a demo starts, and if the
   * demo uses the user's Stripe account.
   */
  stripeLocalUrl: z.string().nullable(),
});

/** Settings that a demo keeps between two starts. */
export type DemoSettings = z.infer<typeof settings>;

/**
 * Reads the demo's settings from a data directory, or returns new settings if there are none. Writes nothing.
 *
 * @throws StartError if demo.json cannot be read or lacks a setting
 */
export function readSettings(dataDir: string, randomBytes: (size: number) => Buffer): DemoSettings {
  if (!existsSync(fileOf(dataDir))) return newSettings(randomBytes);
  try {
    return settings.parse(JSON.parse(readFileSync(fileOf(dataDir), 'utf8')));
  } catch {
    throw new StartError([
      `${fileOf(dataDir)} is not a settings file of the demo: delete it, and the next start creates one.`,
    ]);
  }
}

/** Writes the settings atomically. Only the owner can read the file, because it contains passwords. */
export function writeSettings(dataDir: string, value: DemoSettings): void {
  const draft = `${fileOf(dataDir)}.tmp`;
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, fileOf(dataDir));
}

function fileOf(dataDir: string): string {
  return join(dataDir, 'demo.json');
}

function newSettings(randomBytes: (size: number) => Buffer): DemoSettings {
  const secret = (bytes: number) => randomBytes(bytes).toString('base64url');
  const hex = (bytes: number) => randomBytes(bytes).toString('hex');
  return {
    cronSecret: secret(24),
    webhookSecret: `whsec_${hex(24)}`,
    betterAuthSecret: secret(32),
    stripeSecretKey: `sk_test_${hex(24)}`,
    staffEmail: 'staff@example.com',
    staffPassword: secret(12),
    stripeLocalUrl: null,
  };
}

/**
 * Reads the environment, with a demo's defaults for variables that are not set.
 *
 * @returns `env`: the parsed variables. `settings`: the settings in demo.json. `variables`: the environment variables
 *   for the server. `ownStripe`: true if the demo runs a local Stripe, false if the environment configures a Stripe
 *   account.
 * @throws StartError with one sentence per wrong variable
 */
export function readDemoEnv() {
  nextEnv.loadEnvConfig(process.cwd(), false, { info() {}, error() {} });
  const given = inheritedEnv();
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
  const settings = readSettings(set.DATA_DIR ?? '.data', baseRuntime({ logLevel: 'silent' }).randomBytes);
  const ownStripe = set.STRIPE_SECRET_KEY === undefined && set.STRIPE_API_BASE === undefined;
  const variables: NodeJS.ProcessEnv = {
    STRIPE_WEBHOOK_SECRET: settings.webhookSecret,
    CRON_SECRET: settings.cronSecret,
    ...(set.DATABASE_URL && { BETTER_AUTH_SECRET: settings.betterAuthSecret }),
    ...(ownStripe && { STRIPE_SECRET_KEY: settings.stripeSecretKey }),
    ...set,
    NODE_ENV: 'production',
  };
  return { env: parseEnv(variables), settings, variables, ownStripe };
}

export type DemoEnv = ReturnType<typeof readDemoEnv>;

/** Name of the demo in the audit log and of its access tokens. */
export const DEMO = 'demo';
export const DEMO_ACTOR = commandActor(DEMO);
