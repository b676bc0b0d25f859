import { AppError } from '../errors';
import { runtimeOrError } from '../runtime';

/** Responds with 503 and the reason while the service is unavailable, and redirects to the staff pages otherwise. */
export async function answerUnavailable(): Promise<Response> {
  const runtime = await runtimeOrError();
  if (!(runtime instanceof AppError)) {
    return new Response(null, { status: 303, headers: { Location: '/admin', 'Cache-Control': 'no-store' } });
  }
  return new Response(page(runtime.message), {
    status: 503,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
      'Cache-Control': 'no-store',
      'Retry-After': '5',
    },
  });
}

/** Returns the HTML of the page. @param reason a sentence without characters that are special in HTML */
function page(reason: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="5">
<title>Service unavailable</title>
<h1>The service is unavailable</h1>
<p>${reason}</p>
<p>This page reloads every five seconds.</p>
</html>
`;
}
