import { randomBytes } from 'node:crypto';
import { type NextRequest, NextResponse } from 'next/server';
import { perProcess } from '@/db/per-process';
import { PATH_HEADER, SESSION_COOKIES } from '@/lib/auth/sign-in-paths';
import { readEnv } from '@/lib/env';
import { answerUnknownPath } from '@/lib/http/messages';
import { RPC, rpcError } from '@/lib/mcp/protocol';

export const config = {
  matcher: ['/', '/admin/:path*', '/sign-in/:path*', '/docs/:path*', '/oauth/:path*', '/api/:path(.*%.*)'],
};

/**
 * Adds security headers to the pages that `config` matches. Redirects a browser from a staff page to the sign-in page
 * if its request has no session cookie. The pages themselves check whether the session is valid. Also refuses paths
 * that cannot be decoded, and tells an MCP client that posts to `/` the right address.
 */
export function proxy(request: NextRequest): Response {
  const { pathname, search } = request.nextUrl;
  if (pathname.startsWith('/api/')) return isReadable(pathname) ? NextResponse.next() : answerUnknownPath();
  const env = pageEnv();
  if (pathname === '/' && request.method === 'POST' && !request.headers.has('next-action')) {
    return rpcError(
      404,
      RPC.refused,
      `The MCP endpoint is ${env.publicUrl}/mcp. Enter this address in the client.`,
    );
  }
  const fixed = fixedHeaders(env.isHttps, isOfPopup(pathname));
  if (!isReadable(pathname)) return new NextResponse('Not found', { status: 404, headers: fixed });
  // Let the page answer a script's request, because the script could not use a redirect.
  const isScript = request.headers.has('next-action') || request.headers.get('accept') === 'application/json';
  const isAdmin = pathname === '/admin' || pathname.startsWith('/admin/');
  if (isAdmin && !isScript && !SESSION_COOKIES.some((name) => request.cookies.has(name))) {
    const signIn = new URL(`/sign-in?next=${encodeURIComponent(pathname + search)}`, request.nextUrl);
    return NextResponse.redirect(signIn, { headers: fixed });
  }
  const nonce = randomBytes(16).toString('base64');
  const policy = contentSecurityPolicy(nonce, env.development);
  const headers = new Headers(request.headers);
  headers.set('x-nonce', nonce);
  headers.set('content-security-policy', policy);
  headers.set(PATH_HEADER, pathname + search);
  const response = NextResponse.next({ request: { headers } });
  for (const [name, value] of Object.entries(fixed)) response.headers.set(name, value);
  response.headers.set('content-security-policy', policy);
  return response;
}

/** Reads the settings once per process, because checking all variables takes longer than the rest of the proxy. */
function pageEnv(): { publicUrl: string; isHttps: boolean; development: boolean } {
  return perProcess('page-env', () => {
    const { publicUrl, development } = readEnv();
    return { publicUrl, isHttps: publicUrl.startsWith('https://'), development };
  });
}

/** Returns whether a path can be decoded. Next would respond to any other path with a plain-text 500. */
function isReadable(pathname: string): boolean {
  try {
    decodeURIComponent(pathname);
    return true;
  } catch {
    return false;
  }
}

function contentSecurityPolicy(nonce: string, development: boolean): string {
  return [
    "default-src 'self'",
    // React evaluates strings as code only in development, for its error messages.
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'${development ? " 'unsafe-eval'" : ''}`,
    `style-src 'self' 'nonce-${nonce}'`,
    "style-src-attr 'unsafe-inline'", // Mantine sets sizes and colours in style attributes.
    "img-src 'self' data:",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

const SIGN_IN_STEPS = ['/sign-in', '/sign-in/code', '/sign-in/due'];

/**
 * Returns true for pages that an OAuth client may open in a popup. The window that opened the popup waits for the
 * result.
 */
function isOfPopup(pathname: string): boolean {
  return SIGN_IN_STEPS.includes(pathname) || pathname.startsWith('/oauth/');
}

function fixedHeaders(https: boolean, ofPopup: boolean): Record<string, string> {
  return {
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    'cross-origin-opener-policy': ofPopup ? 'unsafe-none' : 'same-origin',
    ...(https && { 'strict-transport-security': 'max-age=31536000' }),
  };
}
