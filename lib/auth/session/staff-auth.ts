import { drizzleAdapter } from 'better-auth/adapters/drizzle';
import { APIError, createAuthMiddleware } from 'better-auth/api';
import { betterAuth } from 'better-auth/minimal';
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
import { OAUTH_TABLES, oauthPlugins } from '../../oauth/provider';
import type { Runtime } from '../../runtime';
import { notePasskey } from '../second-factor/note-passkey';
import { passkeyPlugin, twoFactorPlugin } from '../second-factor/plugins';
import { countSignIn, forgiveSignIn, secondsUntil } from '../sign-in/sign-in-limit';
import { ADDRESS_HEADER, originOf } from '../sign-in/sign-in-request';
import { AUTH_PATH, authCookiePrefix } from './staff-cookie';
import { staffSecret } from './staff-secret';

export type StaffAuth = ReturnType<typeof createStaffAuth>;

export const MIN_PASSWORD_LENGTH = 12;
export const MAX_PASSWORD_LENGTH = 128;
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
      twoFactorPlugin(),
      passkeyPlugin(env.publicUrl, (id, passkey) => notePasskey(db, id, passkey)),
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
