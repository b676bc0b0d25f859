import nextEnv from '@next/env';
import { type Env, parseEnv } from '../../env';
import { inheritedEnv } from '../../inherited-env';
import { worldOf } from '../../runtime';
import { type DemoSettings, readSettings } from './settings';

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
