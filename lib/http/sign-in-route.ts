import { signIn } from '../auth/sign-in';
import type { Credentials } from '../auth/sign-in-request';
import { safeNextPath } from '../auth/staff-path';
import { AppError } from '../errors';
import { explainFailure, runtimeOrError } from '../runtime';
import { isOwnOrigin } from './own-origin';
import { problemResponse, toAppError } from './problem';
import { parseJson, readBody } from './read-body';

/** What a sign-in needs, and some. */
const MAX_BYTES = 16_384;

interface Typed extends Credentials {
  /** Where to go then. */
  next: string;
}

/**
 * The door of the sign-in page, JSON to its script. To a form that was sent without scripts it answers with
 * the page to see next: the sign-in page again, where it failed.
 */
export async function answerSignIn(request: Request): Promise<Response> {
  const runtime = await runtimeOrError();
  if (runtime instanceof AppError) return problemResponse(runtime);
  const isForm = request.headers.get('accept')?.includes('text/html') ?? false;
  let next = '';
  try {
    // Another site must not sign its visitors in as somebody else; no browser leaves out whose page it is.
    if (isOwnOrigin(request, runtime.env.publicUrl) === false) {
      throw new AppError('forbidden', 'Signing in works from our own pages only.');
    }
    const typed = await readTyped(request);
    next = safeNextPath(typed.next);
    const cookies = await signIn(runtime, typed, request.headers);
    const headers = new Headers({ 'Cache-Control': 'no-store' });
    for (const cookie of cookies) headers.append('Set-Cookie', cookie);
    return isForm ? seeOther(next, headers) : Response.json({ next }, { headers });
  } catch (error) {
    const known = toAppError(await explainFailure(runtime, error), runtime.newId(), runtime.log);
    if (!isForm) return problemResponse(known);
    return seeOther(`/sign-in?${new URLSearchParams({ problem: known.code, next })}`);
  }
}

async function readTyped(request: Request): Promise<Typed> {
  const body = await readBody(request, MAX_BYTES);
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json' && type !== 'application/x-www-form-urlencoded') {
    throw new AppError('unsupported_media_type', 'Send the body as Content-Type: application/json.');
  }
  const given =
    type === 'application/json'
      ? (parseJson(body) as Record<string, unknown> | null)
      : Object.fromEntries(new URLSearchParams(Buffer.from(body).toString()));
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  return { email: text(given?.email), password: text(given?.password), next: text(given?.next) };
}

function seeOther(location: string, headers = new Headers()): Response {
  headers.set('Location', location);
  return new Response(null, { status: 303, headers });
}
