import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NextRequest } from 'next/server';
import { expect, test, vi } from 'vitest';
import type { DatabaseHandle } from '@/db/client';
import type { Database } from '@/db/database';
import { COMMANDS } from '@/lib/commands/commands';
import { importStripe } from '@/lib/commands/import-stripe';
import { parseEnv, variables } from '@/lib/env';
import { StartError } from '@/lib/errors';
import { tryServer } from '@/lib/open-database';
import { baseRuntime } from '@/lib/runtime';
import { syncDeps } from '@/lib/sync/sync-deps';
import { proxy } from '@/proxy';

type Variables = Record<string, string>;

const ROOT = join(import.meta.dirname, '../..');
const SECRET = 'x'.repeat(32);
const VERCEL = {
  ...{ VERCEL: '1', PUBLIC_URL: 'https://a.example', CRON_SECRET: 'x'.repeat(16) },
  ...{ DATABASE_URL: 'postgres://a', BETTER_AUTH_SECRET: 'x'.repeat(32) },
};
const LIVE = { STRIPE_SECRET_KEY: 'sk_live_1', PUBLIC_URL: 'https://a.example' };

function sentences(variables: Variables): string[] {
  try {
    parseEnv(variables);
  } catch (error) {
    if (error instanceof StartError) return error.sentences;
    throw error;
  }
  return [];
}

test('blank environment variables count as unset', () => {
  const blank = Object.fromEntries(
    Object.keys(variables.shape).map((name) => [name, name === 'PORT' ? '' : ' ']),
  );
  expect(parseEnv(blank)).toEqual(parseEnv({}));
});

test('every setting has its default without environment variables', () => {
  expect(parseEnv({})).toEqual({
    ...{ databaseUrl: null, databaseUrlDirect: null, databasePooler: null, dataDir: '.data' },
    ...{ port: 3000, host: null, trustedProxies: [], publicUrl: 'http://localhost:3000' },
    ...{ timeZone: 'UTC', scheduleTimeZone: null, linkByEmail: false, tax: { country: 'DE', rate: 19 } },
    stripe: { secretKey: null, webhookSecrets: [], apiBase: null, mode: null },
    oauth: { dynamicRegistration: true, redirectSchemes: ['cursor', 'vscode', 'vscode-insiders'] },
    ...{ eventRetentionDays: 180, documentRetentionYears: 8, toolCallRetentionDays: 90 },
    ...{ cronSecret: null, metricsToken: null, tracesEndpoint: null, betterAuthSecret: null },
    ...{ mcpRequestsPerMinute: 6000, mcpAllowedOrigins: [], fastPaths: true },
    alerts: { overdueHours: 1, driftChanges: 100, diskMb: 200 },
    alertChannels: { webhook: null, mail: null },
    ...{ logLevel: 'info', development: false, vercel: false },
  });
});

test('an empty environment variable counts as unset', () => {
  expect(parseEnv({ DATABASE_URL: '', PORT: '', STRIPE_SECRET_KEY: '' })).toEqual(parseEnv({}));
});

test.each<[Variables, object]>([
  [{ PORT: '4000' }, { publicUrl: 'http://localhost:4000' }],
  [{ PORT: '4000', PUBLIC_URL: 'https://a.example/' }, { publicUrl: 'https://a.example' }],
  [{ PORT: '80' }, { publicUrl: 'http://localhost' }],
  [{ ...LIVE, PUBLIC_URL: 'HTTPS://A.example:443' }, { publicUrl: 'https://a.example' }],
  [{ STRIPE_WEBHOOK_SECRET: 'whsec_a, whsec_b ' }, { stripe: { webhookSecrets: ['whsec_a', 'whsec_b'] } }],
  [
    { MCP_ALLOWED_ORIGINS: 'https://a.example, http://localhost:6274' },
    { mcpAllowedOrigins: ['https://a.example', 'http://localhost:6274'] },
  ],
  [{ STRIPE_SECRET_KEY: 'sk_test_1' }, { stripe: { mode: 'test' } }],
  [{ STRIPE_SECRET_KEY: 'rk_test_1', STRIPE_PUBLISHABLE_KEY: 'pk_test_1' }, { stripe: { mode: 'test' } }],
  [{ STRIPE_PUBLISHABLE_KEY: 'pk_live_1', PUBLIC_URL: 'https://a.example' }, { stripe: { mode: 'live' } }],
])('the environment variables %j are read as %j', (variables, settings) => {
  expect(parseEnv(variables)).toMatchObject(settings);
});

test.each<[Variables, RegExp]>([
  [{ DATABASE_URL: 'mysql://a', BETTER_AUTH_SECRET: SECRET }, /^DATABASE_URL must start with postgres:/],
  [{ PORT: 'http' }, /^PORT must be a port number\.$/],
  [{ PORT: '0' }, /^PORT /],
  [{ PORT: '65536' }, /^PORT /],
  [{ HOST: '10.0.0.1/8' }, /^HOST must be an IP address or a host name of this machine\.$/],
  [{ TRUSTED_PROXIES: '10.0.0.0/8, proxy' }, /^TRUSTED_PROXIES must be addresses or networks such as/],
  [{ TRUSTED_PROXIES: '10.0.0.0/40' }, /^TRUSTED_PROXIES /],
  [{ PUBLIC_URL: 'a.example' }, /^PUBLIC_URL must be an http or https address\.$/],
  [{ PUBLIC_URL: 'ftp://a.example' }, /^PUBLIC_URL /],
  [{ PUBLIC_URL: 'https://a.example/w5t' }, /^PUBLIC_URL must be an http or https address without a path/],
  [{ PUBLIC_URL: 'https://a.example?b=c' }, /^PUBLIC_URL /],
  [{ PUBLIC_URL: 'https://user:secret@a.example' }, /^PUBLIC_URL /],
  [{ APP_TIMEZONE: 'Mars/Olympus' }, /^APP_TIMEZONE must be an IANA time zone/],
  [{ APP_TIMEZONE: '+02:00' }, /^APP_TIMEZONE must be an IANA time zone/],
  [{ TAX_COUNTRY: 'XX' }, /^TAX_COUNTRY must be a two-letter country code/],
  [{ TAX_RATE: '101' }, /^TAX_RATE must be at most 100\.$/],
  [{ TAX_RATE: '19,5' }, /^TAX_RATE must be a number such as 19\.$/],
  [{ STRIPE_SECRET_KEY: 'pk_test_1' }, /^STRIPE_SECRET_KEY must start with/],
  [{ STRIPE_SECRET_KEY: 'sk_test_' }, /^STRIPE_SECRET_KEY /],
  [{ STRIPE_PUBLISHABLE_KEY: 'sk_test_1' }, /^STRIPE_PUBLISHABLE_KEY must start with/],
  [{ STRIPE_WEBHOOK_SECRET: 'secret' }, /^STRIPE_WEBHOOK_SECRET must be/],
  [{ STRIPE_WEBHOOK_SECRET: 'whsec_a,,whsec_b' }, /^STRIPE_WEBHOOK_SECRET must be/],
  [{ STRIPE_API_BASE: 'localhost:12111' }, /^STRIPE_API_BASE must be an http or https address\.$/],
  [{ CRON_SECRET: 'short' }, /^CRON_SECRET must have at least 16 characters\.$/],
  [{ METRICS_TOKEN: 'short' }, /^METRICS_TOKEN must have at least 16 characters\.$/],
  [{ BETTER_AUTH_SECRET: 'short' }, /^BETTER_AUTH_SECRET must have at least 32 characters\.$/],
  [{ ALERT_WEBHOOK_URL: 'https://a.example' }, /^ALERT_WEBHOOK_SECRET must be set if ALERT_WEBHOOK_URL is/],
  [{ ALERT_WEBHOOK_SECRET: 'whsec_short' }, /^ALERT_WEBHOOK_SECRET must be whsec_/],
  [{ SMTP_URL: 'mail.example' }, /^SMTP_URL must be an address such as smtps:/],
  [{ SMTP_URL: 'smtp://a:50%@b.example' }, /^SMTP_URL is not a valid address: .*write %25 for %/],
  [{ SMTP_URL: 'smtp://mail.example' }, /^SMTP_URL must be set together with ALERT_MAIL_FROM/],
  [{ ALERT_MAIL_TO: 'ops@a.example' }, /^ALERT_MAIL_TO must be set together with SMTP_URL/],
  [{ ALERT_MAIL_TO: 'ops@a.example, ops' }, /^ALERT_MAIL_TO must be e-mail addresses/],
  [{ MCP_ALLOWED_ORIGINS: 'https://a.example/path' }, /^MCP_ALLOWED_ORIGINS must be origins/],
  [{ LOG_LEVEL: 'loud' }, /^LOG_LEVEL /],
  [{ ...LIVE, STRIPE_PUBLISHABLE_KEY: 'pk_test_1' }, /^STRIPE_SECRET_KEY is a live key and .* a test key/],
  [{ STRIPE_SECRET_KEY: 'sk_live_1' }, /^PUBLIC_URL must be an https address/],
  [{ ...LIVE, PUBLIC_URL: 'http://a.example' }, /^PUBLIC_URL must be an https/],
  [{ ...LIVE, STRIPE_API_BASE: 'http://b.example' }, /^STRIPE_API_BASE must be unset/],
  [{ ...VERCEL, DATABASE_URL: '' }, /^DATABASE_URL must be set on Vercel.*npm run db:migrate/],
  [{ ...VERCEL, CRON_SECRET: ' ' }, /^CRON_SECRET must be set on Vercel/],
  [{ DATABASE_URL: 'postgres://a' }, /^BETTER_AUTH_SECRET must be set if DATABASE_URL is set/],
])('the environment variables %j are refused with one sentence', (variables, sentence) => {
  const reported = sentences(variables);
  expect(reported).toEqual([expect.stringMatching(sentence)]);
  expect(reported[0]).toMatch(/^[A-Z_]+ [^\n]+\.$/);
});

test('every invalid environment variable is reported without its value', () => {
  const reported = sentences({ PORT: 'http', STRIPE_SECRET_KEY: 'my-secret', CRON_SECRET: 'hush' });
  expect(reported).toHaveLength(3);
  expect(reported.join()).not.toMatch(/my-secret|hush/);
});

test('a command ignores invalid environment variables that it does not use', () => {
  const variables = { DATABASE_URL: 'postgres://a', PORT: 'http', STRIPE_SECRET_KEY: 'secret' };
  expect(parseEnv(variables, COMMANDS['db:migrate'].variables).databaseUrl).toBe('postgres://a');
  expect(() => parseEnv(variables, COMMANDS.token.variables)).toThrow(/^PORT must be/);
});

test('the reconcile command and the import from Stripe read every environment variable that sync uses', () => {
  const variables = {
    ...{ APP_TIMEZONE: 'Europe/Berlin', LINK_BY_EMAIL: 'on' },
    ...{ EVENT_RETENTION_DAYS: '90', TOOL_CALL_RETENTION_DAYS: '30' },
    ...{ STRIPE_SECRET_KEY: 'sk_test_1', STRIPE_API_BASE: 'http://localhost:1' },
  };
  const taken = (used?: readonly string[]) => {
    const env = parseEnv(variables, used);
    return JSON.stringify([
      syncDeps({ ...baseRuntime(env), db: {} as Database, stripe: null, env }),
      env.stripe,
    ]);
  };
  // Removing any one of these variables must change the result. When sync reads another variable, add it above.
  for (const name of Object.keys(variables)) {
    const others = Object.keys(variables).filter((other) => other !== name);
    expect(taken(others)).not.toEqual(taken());
  }
  for (const { variables } of [COMMANDS.reconcile, importStripe]) expect(taken(variables)).toEqual(taken());
});

test('.env.example explains every environment variable except NODE_ENV and VERCEL, with a valid value', () => {
  const example = readFileSync(join(ROOT, '.env.example'), 'utf8');
  const explained = [...example.matchAll(/^# .+\n(?:# .+\n)*#?([A-Z][A-Z_]+)=.*$/gm)].map(([, name]) => name);
  expect([...explained, 'NODE_ENV', 'VERCEL'].sort()).toEqual(Object.keys(variables.shape).sort());
  const values = [...example.matchAll(/^#?([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name, value]);
  expect(sentences(Object.fromEntries(values))).toEqual([]);
});

test('docs/configuration.md lists every environment variable except NODE_ENV and VERCEL, with its default', () => {
  const text = readFileSync(join(ROOT, 'docs/configuration.md'), 'utf8');
  const rows = [...text.matchAll(/^\| (`[^|]+`) +\|[^|]+\| ([^|]+?) +\|$/gm)];
  const documented = rows.flatMap(([, names = '', value = '']) =>
    [...names.matchAll(/[A-Z][A-Z_]+/g)].map(([name]) => [name, value.replaceAll('`', '')] as const),
  );
  const { NODE_ENV: _, VERCEL: __, ...declared } = variables.shape;
  expect(documented.map(([name]) => name).sort()).toEqual(Object.keys(declared).sort());
  for (const [name, value] of documented) {
    const usual = declared[name as keyof typeof declared].safeParse(undefined).data;
    if (usual !== undefined && name !== 'DATA_DIR') expect([name, value]).toEqual([name, String(usual)]);
  }
});

test('git ignores every .env file except the example', () => {
  const folder = mkdtempSync(join(tmpdir(), 'w5t-gitignore-'));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' });
  git('init', '-q');
  copyFileSync(join(ROOT, '.gitignore'), join(folder, '.gitignore'));
  const files = ['.env', '.env.local', '.env.production', '.env.example', 'lib/env.ts', 'tests/.env'];
  // If no file were ignored, git check-ignore would exit with code 1, and `git` would throw.
  const ignored = git('-c', 'core.excludesFile=/dev/null', 'check-ignore', ...files);
  rmSync(folder, { recursive: true, force: true });
  expect(ignored.trim().split('\n')).toEqual(['.env', '.env.local', '.env.production', 'tests/.env']);
});

test.each([
  ['28P01', 'The server of DATABASE_URL rejected the user or the password: check both.'],
  ['28000', 'The server of DATABASE_URL rejected the user: check the user'],
  ['3D000', 'The server of DATABASE_URL has no database of that name: create it, or correct the name.'],
  ['57P03', 'The database of DATABASE_URL does not answer: start it, or correct its address.'],
])('the database error %s is reported as: %s', async (code, sentence) => {
  const execute = () => Promise.reject(Object.assign(new Error('refused'), { code }));
  const handle = { db: { execute }, kind: 'postgres', close: async () => {} } as unknown as DatabaseHandle;
  await expect(tryServer(handle, 'postgres://h/d', async () => {})).rejects.toThrow(sentence);
});

test('the Next.js proxy does not read the environment variables again on each request', () => {
  const ask = () => proxy(new NextRequest('http://localhost/sign-in')).headers.get('content-security-policy');
  expect(ask()).toContain("default-src 'self'");
  vi.stubEnv('PORT', 'wrong');
  try {
    expect(ask()).toContain("default-src 'self'");
  } finally {
    vi.unstubAllEnvs();
  }
});
