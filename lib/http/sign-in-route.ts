import type { AuthenticationResponseJSON } from '@simplewebauthn/browser';
import { z } from 'zod';
import { beginPasskeySignIn, enterCode, finishPasskeySignIn, logFailedSignIn, signIn } from '../auth/sign-in';
import { CODE_PATH, SIGN_IN_PATH, safeNextPath } from '../auth/sign-in-paths';
import { AppError } from '../errors';
import type { Runtime } from '../runtime';
import {
  answerUnknownPath,
  answerWith,
  everyMethod,
  type Method,
  mediaType,
  methodNotAllowed,
  parseJson,
  problemResponse,
  readBody,
} from './messages';

/** Requires only an object with an id. better-auth verifies the passkey itself. */
const passkeyAnswer = z.object({ id: z.string().max(1024) }).loose();

const STEPS: Record<string, (request: Request) => Promise<Response>> = {
  email: answerSignIn,
  code: answerCode,
  passkey: answerPasskey,
  'passkey/options': answerPasskeyOptions,
};

/** Handlers of `/api/auth/sign-in/…`. */
export const signInRoute = everyMethod((request: Request) => {
  const [, name = ''] = new URL(request.url).pathname.split('/sign-in/');
  const step = Object.hasOwn(STEPS, name) ? STEPS[name] : undefined;
  if (!step) return answerUnknownPath();
  if (request.method === 'POST') return step(request);
  return methodNotAllowed('POST')[request.method as Method](request, { params: Promise.resolve({}) });
});

/** Signs in with a password. An account with an authenticator app continues to the page that asks for its code. */
function answerSignIn(request: Request): Promise<Response> {
  return answerSignInStep(request, SIGN_IN_PATH, async (runtime, fields) => {
    const email = text(fields.email).replaceAll('\0', ''); // PostgreSQL refuses NUL characters.
    const typed = { email, password: text(fields.password) };
    const { headers } = request;
    const attempt = { by: 'password', email, headers } as const;
    const { cookies, needsCode } = await logFailedSignIn(runtime, attempt, signIn(runtime, typed, headers));
    const next = safeNextPath(text(fields.next));
    return { cookies, next: needsCode ? `${CODE_PATH}?${new URLSearchParams({ next })}` : next };
  });
}

/** Completes a sign-in after the password, with a code of the authenticator app or a recovery code. */
function answerCode(request: Request): Promise<Response> {
  const { headers } = request;
  return answerSignInStep(request, CODE_PATH, async (runtime, fields) => {
    const entered = enterCode(runtime, text(fields.code), headers);
    const cookies = await logFailedSignIn(runtime, { by: 'code', headers }, entered);
    return { cookies, next: safeNextPath(text(fields.next)) };
  });
}

/** Responds with the options that the browser needs to ask the person for a passkey. */
function answerPasskeyOptions(request: Request): Promise<Response> {
  return answerSignInStep(request, SIGN_IN_PATH, (runtime) => beginPasskeySignIn(runtime, request.headers));
}

function answerPasskey(request: Request): Promise<Response> {
  return answerSignInStep(request, SIGN_IN_PATH, async (runtime, fields) => {
    const parsed = passkeyAnswer.safeParse(fields.response);
    if (!parsed.success) throw new AppError('validation_failed', 'There is no passkey in this request.');
    const response = parsed.data as unknown as AuthenticationResponseJSON;
    const { headers } = request;
    const finished = finishPasskeySignIn(runtime, response, headers);
    const cookies = await logFailedSignIn(runtime, { by: 'passkey', headers }, finished);
    return { cookies, next: safeNextPath(text(fields.next)) };
  });
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Maximum size of a sign-in request's body, in bytes. A sign-in needs much less. */
const MAX_BYTES = 16_384;

type SignInFields = Record<string, unknown>;

interface Answer {
  cookies: string[];
  /** The path of the next page. A form is redirected to it, and a script receives it as JSON. */
  next?: string;
}

/**
 * Handles one step of signing in, before a session exists. Scripts get JSON. A form submitted without JavaScript is
 * redirected to the next page, or back to `page` if the step failed. If the service cannot start, both get
 * problem+json.
 *
 * @param work function that performs the step; its cookies become headers, and scripts get the rest of its result
 */
function answerSignInStep(
  request: Request,
  page: string,
  work: (runtime: Runtime, fields: SignInFields) => Promise<Answer>,
): Promise<Response> {
  const isForm = request.headers.get('accept')?.includes('text/html') ?? false;
  let fields: SignInFields = {};
  return answerWith(
    async (runtime) => {
      // Another site must not sign its visitors in to an account of its choice. Every browser sends the page's origin
      // with such a request.
      if (isOwnOrigin(request, runtime.env.publicUrl) === false) {
        throw new AppError('forbidden', 'Signing in works from our own pages only.');
      }
      fields = await readFields(request);
      const { cookies, ...body } = await work(runtime, fields);
      const headers = new Headers({ 'Cache-Control': 'no-store' });
      for (const cookie of cookies) headers.append('Set-Cookie', cookie);
      return isForm && body.next ? seeOther(body.next, headers) : Response.json(body, { headers });
    },
    (error, hasStarted) => {
      if (!isForm || !hasStarted) return problemResponse(error);
      const next = typeof fields.next === 'string' ? safeNextPath(fields.next) : '';
      return seeOther(`${page}?${new URLSearchParams({ problem: error.code, next })}`);
    },
  );
}

async function readFields(request: Request): Promise<SignInFields> {
  const body = await readBody(request, MAX_BYTES);
  const type = mediaType(request);
  if (type !== 'application/json' && type !== 'application/x-www-form-urlencoded') {
    throw new AppError('unsupported_media_type', 'Send the body as Content-Type: application/json.');
  }
  return type === 'application/json'
    ? ((parseJson(body) as SignInFields | null) ?? {})
    : Object.fromEntries(new URLSearchParams(Buffer.from(body).toString()));
}

function seeOther(location: string, headers = new Headers()): Response {
  headers.set('Location', location);
  return new Response(null, { status: 303, headers });
}

/**
 * Returns whether a browser's request comes from one of our own pages, at the requested host or at PUBLIC_URL.
 *
 * @returns null if the request has no `Origin` header
 */
export function isOwnOrigin({ headers }: Request, publicUrl: string): boolean | null {
  const origin = headers.get('origin');
  if (origin === null) return null;
  const host = URL.canParse(origin) ? new URL(origin).host : '';
  return host !== '' && (host === headers.get('host') || host === new URL(publicUrl).host);
}
