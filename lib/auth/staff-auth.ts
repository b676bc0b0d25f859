import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { passkey } from '@better-auth/passkey';
import { drizzleAdapter } from 'better-auth/adapters/drizzle';
import { APIError, createAuthMiddleware } from 'better-auth/api';
import { parseCookies } from 'better-auth/cookies';
import { betterAuth } from 'better-auth/minimal';
import { twoFactor } from 'better-auth/plugins/two-factor';
import { perProcess } from '@/db/per-process';
import {
  staffAccounts,
  staffPasskeys,
  staffRateLimits,
  staffRole,
  staffSessions,
  staffTwoFactors,
  staffUsers,
  staffVerifications,
} from '@/db/schema';
import { staffActor } from '../audit/audit-log';
import type { Env } from '../env';
import { StartError } from '../errors';
import { countedAddress, UNKNOWN_ADDRESS } from '../networks';
import { OAUTH_TABLES, oauthPlugins } from '../oauth/provider';
import type { Runtime } from '../runtime';
import { countSignIn, forgiveSignIn, type SignInOrigin, secondsUntil } from './sign-in-limit';
import { AUTH_PATH, authCookiePrefix } from './sign-in-paths';
import { auditStaff, getStaffUser, MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from './staff-user';

type StaffAuth = ReturnType<typeof createStaffAuth>;

const SESSION_SECONDS = 12 * 60 * 60;
/** For one address over all accounts, in seconds. */
const MAX_SIGN_INS = { window: 60, max: 20 };
const SIGN_IN_PATH = '/sign-in/email';

const built = perProcess('staff-auth', () => new WeakMap<Runtime, StaffAuth>());

/** The sign-in of a runtime's staff, built at the first call. */
export function getStaffAuth(runtime: Runtime): StaffAuth {
  let auth = built.get(runtime);
  if (!auth) {
    auth = createStaffAuth(runtime);
    built.set(runtime, auth);
  }
  return auth;
}

function createStaffAuth(runtime: Runtime) {
  const { env, db, log } = runtime;
  return betterAuth({
    appName: 'W5T Administration',
    baseURL: env.publicUrl,
    basePath: AUTH_PATH,
    secret: staffSecret(env, runtime.randomBytes),
    database: drizzleAdapter(db, {
      provider: 'pg',
      schema: {
        user: staffUsers,
        session: staffSessions,
        account: staffAccounts,
        verification: staffVerifications,
        rateLimit: staffRateLimits,
        twoFactor: staffTwoFactors,
        passkey: staffPasskeys,
        ...OAUTH_TABLES,
      },
    }),
    plugins: [
      twoFactor({ twoFactorCookieMaxAge: 600 }), // codes of an authenticator app, and recovery codes
      passkeyPlugin(env.publicUrl, async (id, passkey) => {
        const user = await getStaffUser(db, { id });
        await auditStaff(db, staffActor(user), 'add_passkey', user, user, { passkey });
      }),
      ...oauthPlugins(runtime),
    ],
    telemetry: { enabled: false },
    // Its texts may be an error's message, which may hold an address: that it happened must do.
    logger: { log: (level) => log[level]({ component: 'staff-auth' }, 'better-auth reports a problem') },
    user: {
      additionalFields: {
        role: { type: [...staffRole.enumValues], input: false, required: true, defaultValue: 'staff' },
        passwordTemporary: { type: 'boolean', input: false, required: true, defaultValue: false },
      },
    },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: MIN_PASSWORD_LENGTH,
      maxPasswordLength: MAX_PASSWORD_LENGTH,
    },
    // An absolute end: pages cannot write cookies, so that a session cannot grow with its use.
    session: { expiresIn: SESSION_SECONDS, disableSessionRefresh: true },
    rateLimit: {
      enabled: true,
      storage: 'database',
      customRules: {
        // Strangers behind the same proxy must not use up the tries of a device that is known.
        [SIGN_IN_PATH]: ({ headers }, rule) =>
          originOf(headers).deviceId === null ? { ...rule, ...MAX_SIGN_INS } : false,
        '/two-factor/*': MAX_SIGN_INS,
        '/passkey/*': MAX_SIGN_INS,
      },
    },
    advanced: {
      cookiePrefix: authCookiePrefix(env.publicUrl),
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER], ipv6Subnet: 64 },
      // It would put __Secure- before the prefix.
      useSecureCookies: false,
      defaultCookieAttributes: { secure: env.publicUrl.startsWith('https://') },
      database: { generateId: () => runtime.newId() },
    },
    hooks: {
      before: createAuthMiddleware(async ({ path, headers, body }) => {
        if (path !== SIGN_IN_PATH) return;
        const now = runtime.now();
        const until = await countSignIn(db, String(body?.email), originOf(headers), now);
        if (!until) return;
        log.warn({ component: 'staff-auth' }, 'sign-in refused: too many failures of one account');
        throw new APIError('TOO_MANY_REQUESTS', {}, { 'Retry-After': String(secondsUntil(until, now)) });
      }),
      after: createAuthMiddleware(async ({ path, headers, body, context }) => {
        // Who still owes a second factor is forgiven once that has come.
        if (path !== SIGN_IN_PATH || !context.newSession || context.newSession.user.twoFactorEnabled) return;
        await forgiveSignIn(db, String(body?.email), originOf(headers), runtime.now());
      }),
    },
  });
}

/** better-auth's cookie of a sign-in that waits for its code; its prefix is before it. */
export const CODE_COOKIE = 'two_factor';
/** The same of a passkey's challenge. */
export const PASSKEY_COOKIE = 'passkey';

/**
 * Passkeys. One counts as two factors, so it must know its owner.
 *
 * @param note writes that a person gets one of this name, just before it is stored
 */
function passkeyPlugin(publicUrl: string, note: (userId: string, name: string) => Promise<void>) {
  return passkey({
    rpName: 'W5T Administration',
    origin: publicUrl,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    advanced: { webAuthnChallengeCookie: PASSKEY_COOKIE },
    registration: {
      async afterVerification({ ctx, verification, user }) {
        requireVerifiedUser(verification.registrationInfo?.userVerified);
        await note(user.id, String(ctx.body?.name));
      },
    },
    authentication: {
      async afterVerification({ verification }) {
        requireVerifiedUser(verification.authenticationInfo.userVerified);
      },
    },
  });
}

/** By PIN, finger or face: having the device must not be enough. */
function requireVerifiedUser(isVerified: boolean | undefined): void {
  if (!isVerified) throw new APIError('UNAUTHORIZED', {});
}

/** Headers of the requests that we make of our own; what a client sent under these names is not in them. */
export const ADDRESS_HEADER = 'x-w5t-address';
const DEVICE_HEADER = 'x-w5t-device';

export interface Credentials {
  email: string;
  password: string;
}

/** A sign-in as better-auth takes it: without the browser's cookies and origin, which were looked at before. */
export function toSignInRequest(
  { publicUrl }: Pick<Env, 'publicUrl'>,
  { email, password }: Credentials,
  { deviceId, address }: SignInOrigin,
  userAgent: string | null,
): Request {
  const headers = new Headers({ 'content-type': 'application/json' });
  if (address !== UNKNOWN_ADDRESS) headers.set(ADDRESS_HEADER, address);
  if (deviceId !== null) headers.set(DEVICE_HEADER, deviceId);
  if (userAgent !== null) headers.set('user-agent', userAgent);
  return new Request(`${publicUrl}${AUTH_PATH}/sign-in/email`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ email, password }),
  });
}

/** Whence such a request comes. */
function originOf(headers: Headers | undefined): SignInOrigin {
  return {
    deviceId: headers?.get(DEVICE_HEADER) ?? null,
    address: headers?.get(ADDRESS_HEADER) ?? UNKNOWN_ADDRESS,
  };
}

interface Asked {
  path: string;
  /** Sent as JSON by POST; nothing is sent by GET. */
  body?: object;
  /** The client's. */
  headers: Headers;
  /** Of better-auth's cookies those that it may see, without their prefix. */
  cookies: string[];
}

/** Passes a client's request on to better-auth, with its limits; whose page it came from is known by then. */
export function askBetterAuth(runtime: Runtime, { path, body, headers, cookies }: Asked): Promise<Response> {
  const { publicUrl } = runtime.env;
  const sent = new Headers({ origin: new URL(publicUrl).origin });
  const address = countedAddress(headers.get('x-forwarded-for'));
  if (address !== UNKNOWN_ADDRESS) sent.set(ADDRESS_HEADER, address);
  const userAgent = headers.get('user-agent');
  if (userAgent !== null) sent.set('user-agent', userAgent);
  const known = parseCookies(headers.get('cookie') ?? '');
  const passed = cookies.flatMap((name) => {
    const full = authCookieName(publicUrl, name);
    const value = known.get(full);
    return value === undefined ? [] : [`${full}=${encodeURIComponent(value)}`];
  });
  if (passed.length > 0) sent.set('cookie', passed.join('; '));
  if (body) sent.set('content-type', 'application/json');
  const method = body ? 'POST' : 'GET';
  const init = { method, headers: sent, ...(body && { body: JSON.stringify(body) }) };
  return getStaffAuth(runtime).handler(new Request(`${publicUrl}${AUTH_PATH}${path}`, init));
}

/** As better-auth names a cookie of its own. */
export function authCookieName(publicUrl: string, name: string): string {
  return `${authCookiePrefix(publicUrl)}.${name}`;
}

const SECRET_FILE = 'better-auth-secret';
const MIN_SECRET_LENGTH = 32;

/**
 * What signs the session cookies: BETTER_AUTH_SECRET, or one made once into DATA_DIR, readable by its
 * owner alone.
 *
 * @throws StartError when the file in DATA_DIR does not hold a secret
 */
export function staffSecret(
  env: Pick<Env, 'betterAuthSecret' | 'dataDir'>,
  randomBytes: (size: number) => Buffer,
): string {
  if (env.betterAuthSecret) return env.betterAuthSecret;
  const file = join(env.dataDir, SECRET_FILE);
  const secret = readSecret(file) ?? writeSecret(env.dataDir, file, randomBytes(32).toString('base64url'));
  if (secret.length >= MIN_SECRET_LENGTH) return secret;
  throw new StartError([
    `${file} holds fewer than ${MIN_SECRET_LENGTH} characters: remove it, and a new one is made.`,
  ]);
}

function readSecret(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Renamed into place, so that a crash cannot leave half a secret. */
function writeSecret(dataDir: string, file: string, secret: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${secret}\n`, { mode: 0o600 });
  renameSync(draft, file);
  return secret;
}
