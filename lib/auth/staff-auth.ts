import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
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
/** Rate limit of one IP address at each sign-in endpoint, counted over all accounts. The window is in seconds. */
const MAX_SIGN_INS = { window: 60, max: 20 };
export const PASSWORD_PATH = '/sign-in/email';

const built = perProcess('staff-auth', () => new WeakMap<Runtime, StaffAuth>());

/** Returns the better-auth instance of a runtime. The first call builds it. */
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
      twoFactor({ twoFactorCookieMaxAge: 600 }), // The plugin checks codes of authenticator apps, and recovery codes.
      passkeyPlugin(env.publicUrl, async (id, passkey) => {
        const user = await getStaffUser(db, { id });
        await auditStaff(db, staffActor(user), 'add_passkey', user, user, { passkey });
      }),
      ...oauthPlugins(runtime),
    ],
    telemetry: { enabled: false },
    // better-auth's messages may contain email addresses, so only their level is logged.
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
    // A session ends a fixed time after the sign-in. Requests cannot extend it, because pages cannot write cookies.
    session: { expiresIn: SESSION_SECONDS, disableSessionRefresh: true },
    rateLimit: {
      enabled: true,
      storage: 'database',
      customRules: {
        // Strangers behind the same proxy must not use up the attempts of a known device.
        [PASSWORD_PATH]: ({ headers }, rule) =>
          originOf(headers).deviceId === null ? { ...rule, ...MAX_SIGN_INS } : false,
        '/two-factor/*': MAX_SIGN_INS,
        '/passkey/*': MAX_SIGN_INS,
      },
    },
    advanced: {
      cookiePrefix: authCookiePrefix(env.publicUrl),
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER], ipv6Subnet: 64 },
      // This option would put `__Secure-` before our prefix `__Host-`.
      useSecureCookies: false,
      defaultCookieAttributes: { secure: env.publicUrl.startsWith('https://') },
      database: { generateId: () => runtime.newId() },
    },
    hooks: {
      before: createAuthMiddleware(async ({ path, headers, body }) => {
        if (path !== PASSWORD_PATH) return;
        const now = runtime.now();
        const until = await countSignIn(db, String(body?.email), originOf(headers), now);
        if (!until) return;
        log.warn({ component: 'staff-auth' }, 'sign-in refused: too many failures of one account');
        throw new APIError('TOO_MANY_REQUESTS', {}, { 'Retry-After': String(secondsUntil(until, now)) });
      }),
      after: createAuthMiddleware(async ({ path, headers, body, context }) => {
        // If the person has a second factor, `enterCode` resets the counters after that factor.
        if (path !== PASSWORD_PATH || !context.newSession || context.newSession.user.twoFactorEnabled) return;
        await forgiveSignIn(db, String(body?.email), originOf(headers), runtime.now());
      }),
    },
  });
}

/** Name, without the prefix, of better-auth's cookie for a sign-in that waits for a code. */
export const CODE_COOKIE = 'two_factor';
/** Name, without the prefix, of better-auth's cookie for the challenge of a passkey. */
export const PASSKEY_COOKIE = 'passkey';

/**
 * Configures passkeys. A passkey counts as two factors, so the device must verify its owner.
 *
 * @param note function that is called with the user's id and the passkey's name just before the passkey is stored
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

/** Requires that the device has verified a PIN, finger or face. Possession of the device is not enough. */
function requireVerifiedUser(isVerified: boolean | undefined): void {
  if (!isVerified) throw new APIError('UNAUTHORIZED', {});
}

/**
 * The header in which we send the client's IP address to better-auth. A client's own header of this name is dropped.
 */
export const ADDRESS_HEADER = 'x-w5t-address';
/**
 * The header in which we send the id of a known device to better-auth. A client's own header of this name is dropped.
 */
const DEVICE_HEADER = 'x-w5t-device';

export interface Credentials {
  email: string;
  password: string;
}

/** Reads the origin of a sign-in from the headers that `askBetterAuth` has set. */
function originOf(headers: Headers | undefined): SignInOrigin {
  return {
    deviceId: headers?.get(DEVICE_HEADER) ?? null,
    address: headers?.get(ADDRESS_HEADER) ?? UNKNOWN_ADDRESS,
  };
}

interface BetterAuthRequest {
  path: string;
  /** Body, sent as JSON by POST. If absent, the request is a GET. */
  body?: object;
  /** The client's headers. */
  headers: Headers;
  /** The better-auth cookies to pass on, by their names without the prefix. */
  cookies: string[];
  /** The id of the client's device if it is a known device of the account. */
  deviceId?: string | null;
}

/** Sends a client's request to better-auth with our Origin header. The caller must check the real origin. */
export function askBetterAuth(
  runtime: Runtime,
  { path, body, headers, cookies, deviceId }: BetterAuthRequest,
): Promise<Response> {
  const { publicUrl } = runtime.env;
  const sent = new Headers({ origin: new URL(publicUrl).origin });
  const address = countedAddress(headers.get('x-forwarded-for'));
  if (address !== UNKNOWN_ADDRESS) sent.set(ADDRESS_HEADER, address);
  if (deviceId) sent.set(DEVICE_HEADER, deviceId);
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

/** Returns the full name of one of better-auth's cookies. */
export function authCookieName(publicUrl: string, name: string): string {
  return `${authCookiePrefix(publicUrl)}.${name}`;
}

const SECRET_FILE = 'better-auth-secret';
const MIN_SECRET_LENGTH = 32;

/**
 * Returns the secret that signs cookies and encrypts stored secrets. It is BETTER_AUTH_SECRET, or a secret that is
 * generated once and stored in a file of DATA_DIR that only its owner can read.
 *
 * @throws StartError if the file in DATA_DIR does not contain a secret
 */
export function staffSecret(
  env: Pick<Env, 'betterAuthSecret' | 'dataDir'>,
  randomBytes: (size: number) => Buffer,
): string {
  if (env.betterAuthSecret) return env.betterAuthSecret;
  const file = join(env.dataDir, SECRET_FILE);
  const secret = existsSync(file)
    ? readFileSync(file, 'utf8').trim()
    : writeSecret(env.dataDir, file, randomBytes(32).toString('base64url'));
  if (secret.length >= MIN_SECRET_LENGTH) return secret;
  throw new StartError([
    `${file} contains fewer than ${MIN_SECRET_LENGTH} characters: delete it, and the next start creates a new one.`,
  ]);
}

/** Writes the secret to a temporary file and renames it, so that a crash cannot leave an incomplete secret. */
function writeSecret(dataDir: string, file: string, secret: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${secret}\n`, { mode: 0o600 });
  renameSync(draft, file);
  return secret;
}
