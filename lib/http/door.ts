import { safeNextPath } from '../auth/sign-in-paths';
import { AppError } from '../errors';
import { explainFailure, type Runtime, runtimeOrError } from '../runtime';
import { parseJson, problemResponse, readBody, toAppError } from './messages';

/** What a sign-in needs, and some. */
const MAX_BYTES = 16_384;

export type Given = Record<string, unknown>;

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
export async function answerDoor(
  request: Request,
  page: string,
  work: (runtime: Runtime, given: Given) => Promise<Answer>,
): Promise<Response> {
  const runtime = await runtimeOrError();
  if (runtime instanceof AppError) return problemResponse(runtime);
  const isForm = request.headers.get('accept')?.includes('text/html') ?? false;
  let given: Given = {};
  try {
    // Another site must not sign its visitors in to a foreign account. Every browser sends the origin of the page.
    if (isOwnOrigin(request, runtime.env.publicUrl) === false) {
      throw new AppError('forbidden', 'Signing in works from our own pages only.');
    }
    given = await readGiven(request);
    const { cookies, ...said } = await work(runtime, given);
    const headers = new Headers({ 'Cache-Control': 'no-store' });
    for (const cookie of cookies) headers.append('Set-Cookie', cookie);
    return isForm && said.next ? seeOther(said.next, headers) : Response.json(said, { headers });
  } catch (error) {
    const known = toAppError(await explainFailure(runtime, error), runtime.newId(), runtime.log);
    if (!isForm) return problemResponse(known);
    const next = typeof given.next === 'string' ? safeNextPath(given.next) : '';
    return seeOther(`${page}?${new URLSearchParams({ problem: known.code, next })}`);
  }
}

async function readGiven(request: Request): Promise<Given> {
  const body = await readBody(request, MAX_BYTES);
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
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
