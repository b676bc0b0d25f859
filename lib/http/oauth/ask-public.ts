const TIMEOUT_MS = 5000;

type Answer = Promise<Response>;

/** Reads an address as a client would: for five seconds, and without following where it leads. */
export function getFrom(url: string, userAgent: string): Answer {
  const headers = { 'user-agent': userAgent };
  return fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
}

/** Posts JSON, or a form. */
export function postTo(url: string, body: URLSearchParams | object, headers: Record<string, string>): Answer {
  const isForm = body instanceof URLSearchParams;
  return fetch(url, {
    method: 'POST',
    headers: {
      ...(!isForm && { 'content-type': 'application/json' }),
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: isForm ? body : JSON.stringify(body),
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
}

/** @throws Error for another answer than 200 */
export async function readJson(url: string, userAgent: string): Promise<Record<string, unknown>> {
  const answer = await getFrom(url, userAgent);
  if (answer.status !== 200) throw new Error(`${url} answers ${answer.status}`);
  return (await answer.json()) as Record<string, unknown>;
}

/** Why an address could not be asked, as shortly as can be. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no reason is known';
  const { cause } = error;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : error.message;
}
