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
