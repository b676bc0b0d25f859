import { z } from 'zod';

const MAX_REDIRECTS = 20;
const MAX_GIVEN = 100;
const KNOWN_GRANTS = ['authorization_code', 'refresh_token'];
/** Control, invisible and direction-changing characters could make a name look like another one. */
const VISIBLE = /^\P{C}+$/u;
const optionalUrl = z
  .url({ protocol: /^https$/ })
  .max(500)
  .optional()
  .catch(undefined);

/** What we read of a client's metadata (RFC 7591); all else is passed over, as clients expect. */
const metadata = z.object({
  redirect_uris: z.array(z.unknown()).min(1).max(MAX_GIVEN),
  client_name: z.string().trim().max(100).regex(VISIBLE).optional().catch(undefined),
  client_uri: optionalUrl,
  logo_uri: optionalUrl,
  grant_types: z.array(z.string()).optional(),
  response_types: z.array(z.string()).optional(),
  token_endpoint_auth_method: z.string().optional(),
  /** Not of the RFC: ChatGPT prefers a key, and says here that it goes without. */
  token_endpoint_auth_methods_supported: z.array(z.string()).optional().catch(undefined),
});

export type AuthMethod = 'none' | 'client_secret_basic' | 'client_secret_post';

export interface ClientMetadata {
  redirectUris: string[];
  name: string | null;
  uri: string | null;
  authMethod: AuthMethod;
}

/** An error of OAuth: its code, and a sentence. */
export interface OAuthProblem {
  error: string;
  error_description: string;
}

/**
 * Checks a client's metadata. Redirects that are not allowed are left out: vendors list those of all their apps.
 *
 * @returns the metadata as we store it; or why not, also if no redirect remains
 */
export function parseClientMetadata(
  given: unknown,
  { schemes, methods }: { schemes: readonly string[]; methods: readonly AuthMethod[] },
): ClientMetadata | OAuthProblem {
  const parsed = metadata.safeParse(given);
  if (!parsed.success) {
    const field = String(parsed.error.issues[0]?.path[0] ?? 'the body');
    return field === 'redirect_uris'
      ? problem('invalid_redirect_uri', `redirect_uris must be 1 to ${MAX_GIVEN} addresses.`)
      : problem('invalid_client_metadata', `${field} is not valid.`);
  }
  const { data } = parsed;
  const redirectUris: string[] = [];
  const problems: string[] = [];
  for (const uri of data.redirect_uris.map(String)) {
    const wrong = redirectProblem(uri, schemes);
    if (wrong) problems.push(`The redirect URI ${uri.slice(0, 200)} ${wrong}.`);
    else if (redirectUris.length < MAX_REDIRECTS) redirectUris.push(uri);
  }
  if (redirectUris.length === 0) return problem('invalid_redirect_uri', problems[0] ?? '');
  const grants = data.grant_types ?? KNOWN_GRANTS;
  if (!grants.includes('authorization_code')) {
    return problem('invalid_client_metadata', 'grant_types must have authorization_code.');
  }
  if (data.response_types && !data.response_types.includes('code')) {
    return problem('invalid_client_metadata', 'response_types must have code.');
  }
  const preferred = data.token_endpoint_auth_method ?? methods[0];
  const possible = [preferred, ...(data.token_endpoint_auth_methods_supported ?? [])];
  const authMethod = possible.flatMap((one) => methods.find((method) => method === one) ?? [])[0];
  if (!authMethod) {
    return problem('invalid_client_metadata', `token_endpoint_auth_method must be ${methods.join(' or ')}.`);
  }
  return {
    redirectUris,
    name: data.client_name ?? null,
    uri: data.client_uri ?? null,
    authMethod,
  };
}

export function isProblem(value: object): value is OAuthProblem {
  return 'error' in value;
}

function problem(error: string, error_description: string): OAuthProblem {
  return { error, error_description };
}

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;
const MAX_LENGTH = 500;

/** Whether a redirect leads to a program on the person's own machine. */
export function isLoopback(uri: string): boolean {
  const url = new URL(uri);
  return url.protocol === 'http:' && LOOPBACK.test(url.hostname);
}

/**
 * Checks a redirect address of a registration: https, http on the loopback (its port is ignored later), or a private
 * scheme of the allowlist. The client's own type does not matter.
 *
 * @returns what is wrong with it
 */
export function redirectProblem(uri: string, schemes: readonly string[]): string | null {
  if (uri.length > MAX_LENGTH || !URL.canParse(uri)) return 'must be an absolute address';
  const url = new URL(uri);
  if (uri.includes('#') || url.username !== '' || url.password !== '') {
    return 'must have neither a fragment nor credentials';
  }
  // The address is compared character by character later, so a spelling that browsers normalize is refused.
  if (/[\s\\\p{Cc}]/u.test(uri)) return 'must have no spaces, backslashes or control characters';
  // A browser reads https:evil.example as https://evil.example, and a person reads something else.
  if (/^https?:/i.test(uri) && !/^https?:\/\/[^/]/i.test(uri)) return 'must have two slashes before its host';
  if (url.protocol === 'https:') return LOOPBACK.test(url.hostname) ? 'must be http on this machine' : null;
  if (url.protocol === 'http:') return isLoopback(uri) ? null : 'must be https';
  return schemes.includes(url.protocol.slice(0, -1))
    ? null
    : 'has a scheme that is not on OAUTH_REDIRECT_SCHEMES';
}
