import nextEnv from '@next/env';
import { contradictions, keyMode, type StripeMode } from './env-contradictions';
import { list, type Variable, type Variables, variables } from './env-variables';
import { StartError } from './errors';
import { inheritedEnv } from './inherited-env';

export interface Env {
  databaseUrl: string | null;
  /** Past a pooler, for migrations and dry runs; null: as `databaseUrl`. */
  databaseUrlDirect: string | null;
  /** `transaction`: statements have no names. Null: that is found out. */
  databasePooler: 'transaction' | null;
  dataDir: string;
  port: number;
  /** Where the server listens; null: on this machine only. */
  host: string | null;
  /** Addresses and networks whose forwarding headers are believed. */
  trustedProxies: string[];
  /** Without a trailing slash. */
  publicUrl: string;
  timeZone: string;
  /** In which 03:40 is meant by a server of our own; null: in the machine's own. */
  scheduleTimeZone: string | null;
  /** Where we are taxed, and the rate of new lines for customers there, in percent. */
  tax: { country: string; rate: number };
  stripe: {
    secretKey: string | null;
    /** Several during a rotation; empty: every webhook request is refused. */
    webhookSecrets: string[];
    apiBase: string | null;
    /** Of the configured keys; null where none is set, so that any mode is accepted. */
    mode: StripeMode | null;
  };
  /** An e-mail that a payer gave links a Stripe customer by itself; else staff confirm it. */
  linkByEmail: boolean;
  /** After so many days the inbox drops the bodies of events that were dealt with. */
  eventRetentionDays: number;
  cronSecret: string | null;
  betterAuthSecret: string | null;
  mcpAllowedOrigins: string[];
  oauth: {
    /** Off: clients are registered by hand or by their metadata documents only. */
    dynamicRegistration: boolean;
    /** Private schemes that clients may have themselves redirected to. */
    redirectSchemes: string[];
  };
  /** After so many days a call of a tool is forgotten. */
  toolCallRetentionDays: number;
  /** Of one token; 0: any number. */
  mcpRequestsPerMinute: number;
  alerts: {
    /** Hours after which the daily run counts as missing, on top of its 24. */
    overdueHours: number;
    /** Health reports a run that repairs more fields than this, since that many webhooks were missed. */
    driftChanges: number;
    /** Health reports the disk of the embedded database if it has less free space than this, in megabytes. */
    diskMb: number;
  };
  /** Off: Next answers every path, as on Vercel. */
  fastPaths: boolean;
  logLevel: Variables['LOG_LEVEL'];
  development: boolean;
  vercel: boolean;
}

/**
 * @param source the environment; an empty value counts as unset
 * @param used by who asks, where that is not everything: the others count as unset, and nothing asks for them
 * @throws StartError with one sentence per wrong variable
 */
export function parseEnv(
  source: Record<string, string | undefined>,
  used: readonly string[] = Object.keys(variables.shape),
): Env {
  const set = Object.fromEntries(
    Object.entries(source).filter(([name, value]) => value !== '' && used.includes(name)),
  );
  const parsed = variables.safeParse(set);
  if (!parsed.success) {
    throw new StartError(
      parsed.error.issues.map((issue) => `${issue.path[0]?.toString()} ${issue.message}.`),
    );
  }
  const v = parsed.data;
  const problems = contradictions(v).filter((sentence) =>
    used.some((name) => sentence.startsWith(`${name} `)),
  );
  if (problems.length > 0) throw new StartError(problems);
  return {
    databaseUrl: v.DATABASE_URL ?? null,
    databaseUrlDirect: v.DATABASE_URL_DIRECT ?? null,
    databasePooler: v.DATABASE_POOLER ?? null,
    dataDir: v.DATA_DIR,
    port: v.PORT,
    host: v.HOST ?? null,
    trustedProxies: list(v.TRUSTED_PROXIES),
    publicUrl: (v.PUBLIC_URL ?? `http://localhost:${v.PORT}`).replace(/\/+$/, ''),
    timeZone: v.APP_TIMEZONE ?? 'UTC',
    scheduleTimeZone: v.APP_TIMEZONE ?? null,
    tax: { country: v.TAX_COUNTRY, rate: v.TAX_RATE },
    stripe: {
      secretKey: v.STRIPE_SECRET_KEY ?? null,
      webhookSecrets: list(v.STRIPE_WEBHOOK_SECRET),
      apiBase: v.STRIPE_API_BASE ?? null,
      mode: keyMode(v.STRIPE_SECRET_KEY) ?? keyMode(v.STRIPE_PUBLISHABLE_KEY),
    },
    linkByEmail: v.LINK_BY_EMAIL === 'on',
    eventRetentionDays: v.EVENT_RETENTION_DAYS,
    cronSecret: v.CRON_SECRET ?? null,
    betterAuthSecret: v.BETTER_AUTH_SECRET ?? null,
    mcpAllowedOrigins: list(v.MCP_ALLOWED_ORIGINS),
    oauth: {
      dynamicRegistration: v.OAUTH_DYNAMIC_REGISTRATION === 'on',
      redirectSchemes: list(v.OAUTH_REDIRECT_SCHEMES),
    },
    toolCallRetentionDays: v.TOOL_CALL_RETENTION_DAYS,
    mcpRequestsPerMinute: v.MCP_REQUESTS_PER_MINUTE,
    alerts: {
      overdueHours: v.ALERT_OVERDUE_HOURS,
      driftChanges: v.ALERT_DRIFT_CHANGES,
      diskMb: v.ALERT_DISK_MB,
    },
    fastPaths: v.FAST_PATHS === 'on',
    logLevel: v.LOG_LEVEL,
    development: v.NODE_ENV === 'development',
    vercel: v.VERCEL !== undefined,
  };
}

/** The environment of this process, `.env` files included (real variables win); see `parseEnv`. */
export function readEnv(used?: readonly Variable[]): Env {
  nextEnv.loadEnvConfig(process.cwd(), inheritedEnv().NODE_ENV === 'development', { info() {}, error() {} });
  return parseEnv(inheritedEnv(), used);
}

/** True inside `next build`. */
export function isBuilding(): boolean {
  return inheritedEnv().NEXT_PHASE === 'phase-production-build';
}
