import type { AuthenticationResponseJSON } from '@simplewebauthn/browser';
import { z } from 'zod';
import { beginPasskeySignIn, enterCode, finishPasskeySignIn, logFailedSignIn, signIn } from '../auth/sign-in';
import { CODE_PATH, SIGN_IN_PATH, safeNextPath } from '../auth/sign-in-paths';
import { AppError } from '../errors';
import { answerDoor, type Given } from './door';

/** Whether a device is a passkey's, better-auth finds out; here it only has to be an object. */
const passkeyAnswer = z.object({ id: z.string().max(1024) }).loose();

/** Signs in from the sign-in page. Accounts with an authenticator app continue to the page that asks for its code. */
export async function answerSignIn(request: Request): Promise<Response> {
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
export async function answerCode(request: Request): Promise<Response> {
  const { headers } = request;
  return answerDoor(request, CODE_PATH, async (runtime, given) => ({
    cookies: await logFailedSignIn(
      runtime,
      { by: 'code', headers },
      enterCode(runtime, text(given.code), headers),
    ),
    next: safeNextPath(text(given.next)),
  }));
}

/** What the browser asks for a passkey with. */
export async function answerPasskeyOptions(request: Request): Promise<Response> {
  return answerDoor(request, SIGN_IN_PATH, (runtime) => beginPasskeySignIn(runtime, request.headers));
}

/** Signs in with a passkey. */
export async function answerPasskey(request: Request): Promise<Response> {
  return answerDoor(request, SIGN_IN_PATH, async (runtime, given) => {
    const parsed = passkeyAnswer.safeParse(given.response);
    if (!parsed.success) throw new AppError('validation_failed', 'There is no passkey in this request.');
    const response = parsed.data as unknown as AuthenticationResponseJSON;
    const { headers } = request;
    return {
      cookies: await logFailedSignIn(
        runtime,
        { by: 'passkey', headers },
        finishPasskeySignIn(runtime, response, headers),
      ),
      next: safeNextPath(text(given.next)),
    };
  });
}

function text(value: Given[string]): string {
  return typeof value === 'string' ? value : '';
}
