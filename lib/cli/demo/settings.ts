import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import nextEnv from '@next/env';
import { z } from 'zod';
import { commandActor } from '../../audit/audit-log';
import { type Env, parseEnv } from '../../env';
import { StartError } from '../../errors';
import { inheritedEnv } from '../../inherited-env';
import { worldOf } from '../../runtime';

const settings = z.object({
  cronSecret: z.string(),
  webhookSecret: z.string(),
  betterAuthSecret: z.string(),
  stripeSecretKey: z.string(),
  staffEmail: z.string(),
  staffPassword: z.string(),
  /** Of the demo that runs now; null where it uses a Stripe of its owner's. */
  stripeLocalUrl: z.string().nullable(),
});

/** What a demo keeps from one start to the next. */
export type DemoSettings = z.infer<typeof settings>;

/**
 * The settings of a data directory, or new ones; nothing is written.
 *
 * @throws StartError if the demo did not write the file
 */
export function readSettings(dataDir: string, randomBytes: (size: number) => Buffer): DemoSettings {
  const text = readText(fileOf(dataDir));
  if (text === undefined) return newSettings(randomBytes);
  try {
    return settings.parse(JSON.parse(text));
  } catch {
    throw new StartError([
      `${fileOf(dataDir)} is not a demo's file: delete it, and the next start makes one.`,
    ]);
  }
}

/** Whole or not at all, and for its owner alone: it holds passwords. */
export function writeSettings(dataDir: string, value: DemoSettings): void {
  const draft = `${fileOf(dataDir)}.tmp`;
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, fileOf(dataDir));
}

function fileOf(dataDir: string): string {
  return join(dataDir, 'demo.json');
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
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

export interface DemoEnv {
  env: Env;
  settings: DemoSettings;
  /** For the server. */
  variables: NodeJS.ProcessEnv;
  /** False where the environment names a Stripe of its own. */
  ownStripe: boolean;
}

/**
 * The environment with what a demo needs where nothing is set.
 *
 * @throws StartError with one sentence per wrong variable
 */
export function readDemoEnv(): DemoEnv {
  nextEnv.loadEnvConfig(process.cwd(), false, { info() {}, error() {} });
  const given = inheritedEnv();
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
  const settings = readSettings(set.DATA_DIR ?? '.data', worldOf({ logLevel: 'silent' }).randomBytes);
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

/** How the audit log and its own tokens name the demo. */
export const DEMO = 'demo';
export const DEMO_ACTOR = commandActor(DEMO);
