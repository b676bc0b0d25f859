import { z } from 'zod';
import { isCountry } from './countries';
import { isTimeZone } from './dates';
import { toNetworks } from './networks';

const text = z.string().min(1);
const whole = z.coerce.number('must be a whole number').int('must be a whole number').min(0).max(1_000_000);
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const databaseUrl = text
  .regex(/^postgres(ql)?:\/\/./, { error: 'must start with postgres:// or postgresql://', abort: true })
  .refine(
    isDatabaseUrl,
    'is no valid address: special characters of a password are written % as %25, # as %23, / as %2F, @ as %40',
  );

export const variables = z.object({
  DATABASE_URL: databaseUrl.optional(),
  DATABASE_URL_DIRECT: databaseUrl.optional(),
  DATABASE_POOLER: z
    .enum(['transaction'], 'must be transaction, or unset: then it is found out at the start')
    .optional(),
  DATA_DIR: text.default('.data'),
  PORT: z.coerce.number('must be a port number').int().min(1).max(65535).default(3000),
  HOST: text.regex(/^[\w.:-]+$/, 'must be an address or a name of this machine').optional(),
  TRUSTED_PROXIES: text
    .refine(isNetworkList, 'must be addresses or networks such as 10.0.0.0/8 with commas between')
    .optional(),
  PUBLIC_URL: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).optional(),
  APP_TIMEZONE: text.refine(isTimeZone, 'must be an IANA time zone such as Europe/Berlin').optional(),
  TAX_COUNTRY: text
    .toUpperCase()
    .refine(isCountry, 'must be the two letters of a country, such as DE')
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
      'must be one or several whsec_… with commas between',
    )
    .optional(),
  STRIPE_API_BASE: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).optional(),
  LINK_BY_EMAIL: z.enum(['propose', 'on'], 'must be propose or on').default('propose'),
  EVENT_RETENTION_DAYS: z.coerce
    .number('must be a whole number')
    .int('must be a whole number')
    .min(35, 'must be at least 35: for 30 days Stripe may send an event again')
    .max(36_500)
    .default(180),
  CRON_SECRET: text.min(16, 'must have at least 16 characters').optional(),
  BETTER_AUTH_SECRET: text.min(32, 'must have at least 32 characters').optional(),
  MCP_ALLOWED_ORIGINS: text
    .refine(isOriginList, 'must be origins such as https://example.com with commas between')
    .optional(),
  OAUTH_DYNAMIC_REGISTRATION: z.enum(['on', 'off'], 'must be on or off').default('on'),
  OAUTH_REDIRECT_SCHEMES: text
    .refine(isSchemeList, 'must be schemes such as cursor with commas between, and neither http nor https')
    .default('cursor,vscode,vscode-insiders'),
  TOOL_CALL_RETENTION_DAYS: z.coerce
    .number('must be a whole number')
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(36_500)
    .default(90),
  MCP_REQUESTS_PER_MINUTE: whole.default(6000),
  ALERT_OVERDUE_HOURS: whole.default(1),
  ALERT_DRIFT_CHANGES: whole.default(100),
  ALERT_DISK_MB: whole.default(200),
  FAST_PATHS: z.enum(['on', 'off'], 'must be on or off').default('on'),
  LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('info'),
  NODE_ENV: z.string().default('production'),
  VERCEL: z.string().optional(),
});

/** The variables as they are set. */
export type Variables = z.infer<typeof variables>;

/** A variable that the service reads. */
export type Variable = keyof Variables;

/** What every command needs that opens the database. */
export const DATABASE_VARIABLES = [
  'DATABASE_URL',
  'DATABASE_URL_DIRECT',
  'DATABASE_POOLER',
  'DATA_DIR',
  'APP_TIMEZONE',
] as const satisfies Variable[];

/** What every command that runs a reconciliation reads. */
export const RECONCILIATION_VARIABLES = [
  ...DATABASE_VARIABLES,
  'LINK_BY_EMAIL',
  'EVENT_RETENTION_DAYS',
  'TOOL_CALL_RETENTION_DAYS',
  'STRIPE_PUBLISHABLE_KEY',
  'STRIPE_SECRET_KEY',
  'STRIPE_API_BASE',
  'LOG_LEVEL',
] as const satisfies Variable[];

/** The entries of a value with commas between. */
export function list(value: string | undefined): string[] {
  return (value ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

function isNetworkList(value: string): boolean {
  try {
    return toNetworks(list(value)) !== null;
  } catch {
    return false;
  }
}

/** What the driver can read: it decodes the whole, and takes several hosts with commas between. */
function isDatabaseUrl(value: string): boolean {
  const [, before = '', hosts = '', after = ''] =
    /^(\w+:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/s.exec(value) ?? [];
  try {
    decodeURIComponent(value);
    return hosts.split(',').every((host) => URL.canParse(before + host + after));
  } catch {
    return false;
  }
}

function isOriginList(value: string): boolean {
  return list(value).every((entry) => URL.canParse(entry) && new URL(entry).origin === entry);
}

/** Schemes that a browser hands to an app, and runs or shows nothing of by itself. */
function isSchemeList(value: string): boolean {
  const own = /^(https?|file|ftp|data|javascript|vbscript|blob|about|mailto|ws|wss|view-source)$/;
  return list(value).every((entry) => /^[a-z][a-z\d+.-]*$/.test(entry) && !own.test(entry));
}
