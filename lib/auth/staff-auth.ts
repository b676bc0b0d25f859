import { drizzleAdapter } from 'better-auth/adapters/drizzle';
import { APIError, createAuthMiddleware } from 'better-auth/api';
import { betterAuth } from 'better-auth/minimal';
import {
  staffAccounts,
  staffRateLimits,
  staffRole,
  staffSessions,
  staffUsers,
  staffVerifications,
} from '@/db/schema';
import type { Runtime } from '../runtime';
import { clearExpired } from './clear-expired';
import { COOKIE_PREFIX } from './staff-cookie';
import { staffSecret } from './staff-secret';
import { countSignIn, forgetSignIns } from './staff-sign-in-limit';

export type StaffAuth = ReturnType<typeof createStaffAuth>;

export const MIN_PASSWORD_LENGTH = 12;
export const MAX_PASSWORD_LENGTH = 128;
const AUTH_PATH = '/api/auth';
const SESSION_SECONDS = 12 * 60 * 60;

// Next bundles pages and routes separately: a module variable would exist several times.
const KEY = Symbol.for('w5t.staff-auth');
const holder = globalThis as { [KEY]?: WeakMap<Runtime, StaffAuth> };

/** The sign-in of a runtime's staff, built at the first call. */
export function getStaffAuth(runtime: Runtime): StaffAuth {
  holder[KEY] ??= new WeakMap();
  let auth = holder[KEY].get(runtime);
  if (!auth) {
    auth = createStaffAuth(runtime);
    holder[KEY].set(runtime, auth);
  }
  return auth;
}

const OPEN_PATHS = new Set(['/sign-in/email', '/sign-out', '/get-session'].map((path) => AUTH_PATH + path));

/** Answers HTTP requests below /api/auth: signing in and out, nothing else better-auth offers. */
export async function handleStaffAuth(runtime: Runtime, request: Request): Promise<Response> {
  if (!OPEN_PATHS.has(new URL(request.url).pathname)) return new Response('Not Found', { status: 404 });
  return getStaffAuth(runtime).handler(request);
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
      },
    }),
    telemetry: { enabled: false },
    // Its texts may be an error's message, which may hold an address: that it happened must do.
    logger: { log: (level) => log[level]({ component: 'staff-auth' }, 'better-auth reports a problem') },
    user: {
      additionalFields: {
        role: { type: [...staffRole.enumValues], input: false, required: true, defaultValue: 'staff' },
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
      customRules: { '/sign-in/email': { window: 60, max: 20 }, '/get-session': false },
    },
    advanced: {
      cookiePrefix: COOKIE_PREFIX,
      useSecureCookies: env.publicUrl.startsWith('https://'),
      database: { generateId: () => runtime.newId() },
    },
    hooks: {
      before: createAuthMiddleware(async (ctx) => {
        const email = signInEmail(ctx);
        if (email !== null) await clearExpired(db, runtime.now());
        if (email !== null && !(await countSignIn(db, email, runtime))) {
          runtime.log.warn({ component: 'staff-auth' }, 'sign-in refused: too many failures of one account');
          throw new APIError('TOO_MANY_REQUESTS', {
            code: 'TOO_MANY_SIGN_INS',
            message: 'Too many failed sign-ins. Try again in 15 minutes.',
          });
        }
      }),
      after: createAuthMiddleware(async (ctx) => {
        const email = signInEmail(ctx);
        if (email !== null && ctx.context.newSession) await forgetSignIns(db, email);
      }),
    },
  });
}

function signInEmail(ctx: { path: string; body?: unknown }): string | null {
  if (ctx.path !== '/sign-in/email') return null;
  const body = ctx.body as { email?: unknown } | undefined;
  return typeof body?.email === 'string' ? body.email : '';
}
