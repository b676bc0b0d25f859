import type { AuthenticationResponseJSON } from '@simplewebauthn/browser';
import { z } from 'zod';
import { beginPasskeySignIn, enterCode, finishPasskeySignIn, logFailedSignIn, signIn } from '../auth/sign-in';
import { CODE_PATH, SIGN_IN_PATH, safeNextPath } from '../auth/sign-in-paths';
import { AppError } from '../errors';
import type { Runtime } from '../runtime';
import { answerWith, mediaType, parseJson, problemResponse, readBody } from './messages';

/** Whether a device is a passkey's, better-auth finds out; here it only has to be an object. */
const passkeyAnswer = z.object({ id: z.string().max(1024) }).loose();

/** Signs in from the sign-in page. Accounts with an authenticator app continue to the page that asks for its code. */
export function answerSignIn(request: Request): Promise<Response> {
  return answerDoor(request, SIGN_IN_PATH, async (runtime, given) => {
    const email = text(given.email).replaceAll('\0', ''); // the database does not take one
    const typed = { email, password: text(given.password) };
    const { headers } = request;
    const attempt = { by: 'password', email, headers } as const;
    const { cookies, needsCode } = await logFailedSignIn(runtime, attempt, signIn(runtime, typed, headers));
    const next = safeNextPath(text(given.next));
    return { cookies, next: needsCode ? `${CODE_PATH}?${new URLSearchParams({ next })}` : next };
  });
}

/** The door of that page. */
export function answerCode(request: Request): Promise<Response> {
  const { headers } = request;
  return answerDoor(request, CODE_PATH, async (runtime, given) => {
    const entered = enterCode(runtime, text(given.code), headers);
    const cookies = await logFailedSignIn(runtime, { by: 'code', headers }, entered);
    return { cookies, next: safeNextPath(text(given.next)) };
  });
}

/** What the browser asks for a passkey with. */
export function answerPasskeyOptions(request: Request): Promise<Response> {
  return answerDoor(request, SIGN_IN_PATH, (runtime) => beginPasskeySignIn(runtime, request.headers));
}

/** Signs in with a passkey. */
export function answerPasskey(request: Request): Promise<Response> {
  return answerDoor(request, SIGN_IN_PATH, async (runtime, given) => {
    const parsed = passkeyAnswer.safeParse(given.response);
    if (!parsed.success) throw new AppError('validation_failed', 'There is no passkey in this request.');
    const response = parsed.data as unknown as AuthenticationResponseJSON;
    const { headers } = request;
    const finished = finishPasskeySignIn(runtime, response, headers);
    const cookies = await logFailedSignIn(runtime, { by: 'passkey', headers }, finished);
    return { cookies, next: safeNextPath(text(given.next)) };
  });
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** What a sign-in needs, and some. */
const MAX_BYTES = 16_384;

type Given = Record<string, unknown>;

interface Answer {
  cookies: string[];
  /** Where a form goes on to. */
  next?: string;
}

/**
 * A door through which people come without a session, JSON to a script. To a form that was sent without
 * scripts it answers with the page to see next: `page` again, where it failed.
 *
 * @param work what it answers is sent as JSON, but for the cookies
 */
function answerDoor(
  request: Request,
  page: string,
  work: (runtime: Runtime, given: Given) => Promise<Answer>,
): Promise<Response> {
  const isForm = request.headers.get('accept')?.includes('text/html') ?? false;
  let given: Given = {};
  return answerWith(
    async (runtime) => {
      // Another site must not sign its visitors in to a foreign account. Every browser sends the origin of the page.
      if (isOwnOrigin(request, runtime.env.publicUrl) === false) {
        throw new AppError('forbidden', 'Signing in works from our own pages only.');
      }
      given = await readGiven(request);
      const { cookies, ...said } = await work(runtime, given);
      const headers = new Headers({ 'Cache-Control': 'no-store' });
      for (const cookie of cookies) headers.append('Set-Cookie', cookie);
      return isForm && said.next ? seeOther(said.next, headers) : Response.json(said, { headers });
    },
    (error, hasStarted) => {
      if (!isForm || !hasStarted) return problemResponse(error);
      const next = typeof given.next === 'string' ? safeNextPath(given.next) : '';
      return seeOther(`${page}?${new URLSearchParams({ problem: error.code, next })}`);
    },
  );
}

async function readGiven(request: Request): Promise<Given> {
  const body = await readBody(request, MAX_BYTES);
  const type = mediaType(request);
  if (type !== 'application/json' && type !== 'application/x-www-form-urlencoded') {
    throw new AppError('unsupported_media_type', 'Send the body as Content-Type: application/json.');
  }
  return type === 'application/json'
    ? ((parseJson(body) as Given | null) ?? {})
    : Object.fromEntries(new URLSearchParams(Buffer.from(body).toString()));
}

function seeOther(location: string, headers = new Headers()): Response {
  headers.set('Location', location);
  return new Response(null, { status: 303, headers });
}

/**
 * Whether a browser's request comes from one of our own pages: at the requested address, or at PUBLIC_URL.
 *
 * @returns null where the request does not say
 */
export function isOwnOrigin({ headers }: Request, publicUrl: string): boolean | null {
  const origin = headers.get('origin');
  if (origin === null) return null;
  const host = URL.canParse(origin) ? new URL(origin).host : '';
  return host !== '' && (host === headers.get('host') || host === new URL(publicUrl).host);
}
