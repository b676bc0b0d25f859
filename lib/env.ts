import nextEnv from '@next/env';
import { z } from 'zod';
import { isCountry } from './countries';
import { isTimeZone } from './dates';
import { StartError } from './errors';
import { inheritedEnv } from './inherited-env';
import { toNetworks } from './networks';

/** The settings of the service. */
export type Env = ReturnType<typeof toEnv>;

/**
 * Parses environment variables into the settings of the service.
 *
 * @param source the environment; an empty or blank value counts as unset
 * @param used the variables that the caller uses, by default all; the others count as unset and are not required
 * @throws StartError with one sentence for each problem
 */
export function parseEnv(
  source: Record<string, string | undefined>,
  used: readonly string[] = Object.keys(variables.shape),
): Env {
  const set = Object.fromEntries(
    Object.entries(source).filter(([name, value]) => value?.trim() !== '' && used.includes(name)),
  );
  const parsed = variables.safeParse(set);
  if (!parsed.success) {
    throw new StartError(
      parsed.error.issues.map((issue) => `${issue.path[0]?.toString()} ${issue.message}.`),
    );
  }
  const problems = contradictions(parsed.data).filter((sentence) =>
    used.some((name) => sentence.startsWith(`${name} `)),
  );
  if (problems.length > 0) throw new StartError(problems);
  return toEnv(parsed.data);
}

function toEnv(v: Variables) {
  return {
    databaseUrl: v.DATABASE_URL ?? null,
    /** URL of the database without a pooler, for example for migrations. If null, `databaseUrl` is used. */
    databaseUrlDirect: v.DATABASE_URL_DIRECT ?? null,
    /** `transaction` if a pooler may change the session after each transaction. Null to detect it at startup. */
    databasePooler: v.DATABASE_POOLER ?? null,
    dataDir: v.DATA_DIR,
    port: v.PORT,
    /**
     * IP address or host name on which the server listens. If null, the server accepts only connections from this
     * machine.
     */
    host: v.HOST ?? null,
    /** IP addresses and networks of proxies whose forwarding headers are trusted. */
    trustedProxies: list(v.TRUSTED_PROXIES),
    /** Public URL of the service, as browsers write its origin: in lower case, and without a trailing slash. */
    publicUrl: v.PUBLIC_URL ?? new URL(`http://localhost:${v.PORT}`).origin,
    timeZone: v.APP_TIMEZONE ?? 'UTC',
    /** Time zone of the daily reconciliation at 03:40, except on Vercel. Null for the machine's time zone. */
    scheduleTimeZone: v.APP_TIMEZONE ?? null,
    /** The country in which we pay tax, and the default tax rate of invoice lines for customers there, in percent. */
    tax: { country: v.TAX_COUNTRY, rate: v.TAX_RATE },
    stripe: {
      secretKey: v.STRIPE_SECRET_KEY ?? null,
      /** Webhook secrets, several during a rotation. If empty, every webhook request is refused. */
      webhookSecrets: list(v.STRIPE_WEBHOOK_SECRET),
      apiBase: v.STRIPE_API_BASE ?? null,
      /** Mode of the configured keys. Null if no key is set; then events of both modes are accepted. */
      mode: keyMode(v.STRIPE_SECRET_KEY) ?? keyMode(v.STRIPE_PUBLISHABLE_KEY),
    },
    /** Whether e-mail addresses that payers entered may link Stripe customers. If false, staff confirm such links. */
    linkByEmail: v.LINK_BY_EMAIL === 'on',
    /** Days after which the inbox drops the bodies of handled events. */
    eventRetentionDays: v.EVENT_RETENTION_DAYS,
    /** Years for which the documents of erased customers are kept, counted from the end of the document's year. */
    documentRetentionYears: v.DOCUMENT_RETENTION_YEARS,
    cronSecret: v.CRON_SECRET ?? null,
    /** Bearer token of /metrics. If null, /metrics is not available. */
    metricsToken: v.METRICS_TOKEN ?? null,
    /** URL of an OpenTelemetry collector. If null, no traces are exported. */
    tracesEndpoint: v.OTEL_EXPORTER_OTLP_ENDPOINT ?? null,
    betterAuthSecret: v.BETTER_AUTH_SECRET ?? null,
    mcpAllowedOrigins: list(v.MCP_ALLOWED_ORIGINS),
    oauth: {
      /** If false, clients are registered only by hand or by their metadata documents. */
      dynamicRegistration: v.OAUTH_DYNAMIC_REGISTRATION === 'on',
      /** Private URL schemes that clients may use in redirect URLs. */
      redirectSchemes: list(v.OAUTH_REDIRECT_SCHEMES),
    },
    /** Days after which the records of tool calls are deleted. */
    toolCallRetentionDays: v.TOOL_CALL_RETENTION_DAYS,
    /**
     * Rate limit of one token, or of one connected app for one member of staff, in requests per minute. 0 for no limit. An
     * app may send five times as many for all its users together.
     */
    mcpRequestsPerMinute: v.MCP_REQUESTS_PER_MINUTE,
    alerts: {
      /**
       * The health check reports an overdue reconciliation if the latest run started more than 24 hours plus these hours
       * ago. Before the first run, it reports nothing.
       */
      overdueHours: v.ALERT_OVERDUE_HOURS,
      /**
       * The health check reports a reconciliation that repairs more fields than this, because webhooks were probably
       * missed.
       */
      driftChanges: v.ALERT_DRIFT_CHANGES,
      /**
       * The health check reports the disk of the embedded database if it has less free space than this, in megabytes.
       */
      diskMb: v.ALERT_DISK_MB,
    },
    alertChannels: {
      /** Webhook for alerts, with the secret that signs them. Null if alerts are not sent to a webhook. */
      webhook:
        v.ALERT_WEBHOOK_URL && v.ALERT_WEBHOOK_SECRET
          ? { url: v.ALERT_WEBHOOK_URL, secret: v.ALERT_WEBHOOK_SECRET }
          : null,
      /** Mail server, sender and recipients of alerts. Null if alerts are not sent by mail. */
      mail:
        v.SMTP_URL && v.ALERT_MAIL_FROM && v.ALERT_MAIL_TO
          ? { smtpUrl: v.SMTP_URL, from: v.ALERT_MAIL_FROM, to: list(v.ALERT_MAIL_TO) }
          : null,
    },
    /** If false, Next handles every path, as it does on Vercel. */
    fastPaths: v.FAST_PATHS === 'on',
    logLevel: v.LOG_LEVEL,
    development: v.NODE_ENV === 'development',
    vercel: v.VERCEL !== undefined,
  };
}

/** Reads the environment of this process, including `.env` files. Real variables override files. See `parseEnv`. */
export function readEnv(used?: readonly Variable[]): Env {
  nextEnv.loadEnvConfig(process.cwd(), inheritedEnv().NODE_ENV === 'development', { info() {}, error() {} });
  return parseEnv(inheritedEnv(), used);
}

/** Returns true inside `next build`. */
export function isBuilding(): boolean {
  return inheritedEnv().NEXT_PHASE === 'phase-production-build';
}

const text = z.string().min(1);
const integer = z.coerce.number('must be a whole number').int('must be a whole number');
const whole = integer.min(0).max(1_000_000);
const days = (min: number, tooFew: string) => integer.min(min, tooFew).max(36_500);
const onOrOff = z.enum(['on', 'off'], 'must be on or off').default('on');
const web = z.url({ protocol: /^https?$/, error: 'must be an http or https address', abort: true });
const webAddress = web.optional();
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const databaseUrl = text
  .regex(/^postgres(ql)?:\/\/./, { error: 'must start with postgres:// or postgresql://', abort: true })
  .refine(
    isDatabaseUrl,
    'is not a valid address: in a password, write %25 for %, %23 for #, %2F for / and %40 for @',
  );

export const variables = z.object({
  DATABASE_URL: databaseUrl.optional(),
  DATABASE_URL_DIRECT: databaseUrl.optional(),
  DATABASE_POOLER: z
    .enum(['transaction'], 'must be transaction; leave it unset to detect the pooler at startup')
    .optional(),
  DATA_DIR: text.default('.data'),
  PORT: z.coerce.number('must be a port number').int().min(1).max(65535).default(3000),
  HOST: text.regex(/^[\w.:-]+$/, 'must be an IP address or a host name of this machine').optional(),
  TRUSTED_PROXIES: text
    .refine(isNetworkList, 'must be addresses or networks such as 10.0.0.0/8, separated by commas')
    .optional(),
  PUBLIC_URL: web
    .refine(isOnlyOrigin, 'must be an http or https address without a path, a query or a login')
    .transform((url) => new URL(url).origin)
    .optional(),
  APP_TIMEZONE: text.refine(isTimeZone, 'must be an IANA time zone such as Europe/Berlin').optional(),
  TAX_COUNTRY: text
    .toUpperCase()
    .refine(isCountry, 'must be a two-letter country code such as DE')
    .default('DE'),
  TAX_RATE: z.coerce
    .number('must be a number such as 19')
    .min(0, 'must be at least 0')
    .max(100, 'must be at most 100')
    .refine((rate) => Number(rate.toFixed(2)) === rate, 'must have at most two decimals')
    .default(19),
  STRIPE_PUBLISHABLE_KEY: text.regex(/^pk_(test|live)_./, 'must start with pk_test_ or pk_live_').optional(),
  STRIPE_SECRET_KEY: text
    .regex(/^[sr]k_(test|live)_./, 'must start with sk_test_, sk_live_, rk_test_ or rk_live_')
    .optional(),
  STRIPE_WEBHOOK_SECRET: text
    .regex(
      /^\s*whsec_[^,\s]+\s*(,\s*whsec_[^,\s]+\s*)*$/,
      'must be one or more secrets that start with whsec_, separated by commas',
    )
    .optional(),
  STRIPE_API_BASE: webAddress,
  LINK_BY_EMAIL: z.enum(['propose', 'on'], 'must be propose or on').default('propose'),
  EVENT_RETENTION_DAYS: days(
    35,
    'must be at least 35, because Stripe may send an event again for 30 days',
  ).default(180),
  DOCUMENT_RETENTION_YEARS: integer.min(1, 'must be at least 1').max(100, 'must be at most 100').default(8),
  CRON_SECRET: text.min(16, 'must have at least 16 characters').optional(),
  METRICS_TOKEN: text.min(16, 'must have at least 16 characters').optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: webAddress,
  BETTER_AUTH_SECRET: text.min(32, 'must have at least 32 characters').optional(),
  MCP_ALLOWED_ORIGINS: text
    .refine(isOriginList, 'must be origins such as https://example.com, separated by commas')
    .optional(),
  OAUTH_DYNAMIC_REGISTRATION: onOrOff,
  OAUTH_REDIRECT_SCHEMES: text
    .refine(
      isAppSchemeList,
      'must be URL schemes of apps such as cursor, separated by commas, without http and https',
    )
    .default('cursor,vscode,vscode-insiders'),
  TOOL_CALL_RETENTION_DAYS: days(1, 'must be at least 1').default(90),
  MCP_REQUESTS_PER_MINUTE: whole.default(6000),
  ALERT_OVERDUE_HOURS: whole.default(1),
  ALERT_DRIFT_CHANGES: whole.default(100),
  ALERT_DISK_MB: whole.default(200),
  ALERT_WEBHOOK_URL: webAddress,
  ALERT_WEBHOOK_SECRET: text
    .regex(/^whsec_[A-Za-z\d+/]{32,}={0,2}$/, 'must be whsec_ followed by at least 24 bytes in Base64')
    .optional(),
  SMTP_URL: z
    .url({
      protocol: /^smtps?$/,
      error: 'must be an address such as smtps://user:password@mail.example.com',
      abort: true,
    })
    .refine(isDecodable, 'is not a valid address: in a user or password, write %25 for %')
    .optional(),
  ALERT_MAIL_FROM: z.email('must be an e-mail address').optional(),
  ALERT_MAIL_TO: text.refine(isAddressList, 'must be e-mail addresses, separated by commas').optional(),
  FAST_PATHS: onOrOff,
  LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('info'),
  NODE_ENV: z.string().default('production'),
  VERCEL: z.string().optional(),
});

export type Variables = z.infer<typeof variables>;

/** The name of an environment variable that the service reads. */
export type Variable = keyof Variables;

/** Variables of every command that opens the database. */
export const DATABASE_VARIABLES = [
  'DATABASE_URL',
  'DATABASE_URL_DIRECT',
  'DATABASE_POOLER',
  'DATA_DIR',
  'APP_TIMEZONE',
] as const satisfies Variable[];

/** Variables of every command that runs a reconciliation. */
export const RECONCILIATION_VARIABLES = [
  ...DATABASE_VARIABLES,
  'LINK_BY_EMAIL',
  'EVENT_RETENTION_DAYS',
  'DOCUMENT_RETENTION_YEARS',
  'TOOL_CALL_RETENTION_DAYS',
  'STRIPE_PUBLISHABLE_KEY',
  'STRIPE_SECRET_KEY',
  'STRIPE_API_BASE',
  'LOG_LEVEL',
] as const satisfies Variable[];

function list(value: string | undefined): string[] {
  return (value ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

function isAddressList(value: string): boolean {
  return list(value).length > 0 && list(value).every((entry) => z.email().safeParse(entry).success);
}

function isNetworkList(value: string): boolean {
  try {
    return toNetworks(list(value)) !== null;
  } catch {
    return false;
  }
}

/** Returns whether the driver can read a URL. The driver decodes the whole URL, and accepts several hosts. */
function isDatabaseUrl(value: string): boolean {
  const [, before = '', hosts = '', after = ''] =
    /^(\w+:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/s.exec(value) ?? [];
  return isDecodable(value) && hosts.split(',').every((host) => URL.canParse(before + host + after));
}

function isDecodable(value: string): boolean {
  try {
    decodeURIComponent(value);
    return true;
  } catch {
    return false;
  }
}

function isOnlyOrigin(value: string): boolean {
  const { origin, href } = new URL(value);
  return href === `${origin}/`;
}

function isOriginList(value: string): boolean {
  return list(value).every((entry) => URL.canParse(entry) && new URL(entry).origin === entry);
}

/** Returns whether browsers pass URLs with these schemes to an app. A browser opens `https` or `javascript` itself. */
function isAppSchemeList(value: string): boolean {
  const own = /^(https?|file|ftp|data|javascript|vbscript|blob|about|mailto|ws|wss|view-source)$/;
  return list(value).every((entry) => /^[a-z][a-z\d+.-]*$/.test(entry) && !own.test(entry));
}

export type StripeMode = 'test' | 'live';

/** Returns the contradictions between variables, as sentences that begin with the variable to change. */
function contradictions(v: Variables): string[] {
  const secret = keyMode(v.STRIPE_SECRET_KEY);
  const publishable = keyMode(v.STRIPE_PUBLISHABLE_KEY);
  const live = secret === 'live' || publishable === 'live';
  return [
    secret && publishable && secret !== publishable
      ? `STRIPE_SECRET_KEY is a ${secret} key and STRIPE_PUBLISHABLE_KEY a ${publishable} key: use two keys of the same mode.`
      : '',
    live && !v.PUBLIC_URL?.startsWith('https://')
      ? 'PUBLIC_URL must be an https address if the Stripe keys are live keys.'
      : '',
    live && v.STRIPE_API_BASE ? 'STRIPE_API_BASE must be unset if the Stripe keys are live keys.' : '',
    v.VERCEL && !v.DATABASE_URL
      ? 'DATABASE_URL must be set on Vercel, which has no disk for the embedded database: set it and run npm run db:migrate.'
      : '',
    (v.DATABASE_URL_DIRECT || v.DATABASE_POOLER) && !v.DATABASE_URL
      ? 'DATABASE_URL must be set if DATABASE_URL_DIRECT or DATABASE_POOLER is set.'
      : '',
    v.VERCEL && !v.PUBLIC_URL
      ? 'PUBLIC_URL must be set on Vercel, to the address at which people reach this service.'
      : '',
    v.VERCEL && !v.CRON_SECRET
      ? 'CRON_SECRET must be set on Vercel, which sends it with each call of the daily job: generate one with openssl rand -base64 32.'
      : '',
    v.ALERT_WEBHOOK_URL && !v.ALERT_WEBHOOK_SECRET
      ? 'ALERT_WEBHOOK_SECRET must be set if ALERT_WEBHOOK_URL is set: generate one with echo whsec_$(openssl rand -base64 32).'
      : '',
    v.SMTP_URL && !(v.ALERT_MAIL_FROM && v.ALERT_MAIL_TO)
      ? 'SMTP_URL must be set together with ALERT_MAIL_FROM and ALERT_MAIL_TO.'
      : '',
    v.ALERT_MAIL_TO && !v.SMTP_URL ? 'ALERT_MAIL_TO must be set together with SMTP_URL.' : '',
    v.DATABASE_URL && !v.BETTER_AUTH_SECRET
      ? 'BETTER_AUTH_SECRET must be set if DATABASE_URL is set: generate one with openssl rand -base64 32.'
      : '',
  ].filter((sentence) => sentence !== '');
}

/** Returns the mode of a Stripe key. Returns null if there is no key. */
export function keyMode(key: string | undefined): StripeMode | null {
  if (key === undefined) return null;
  return key.includes('_live_') ? 'live' : 'test';
}
