import { issuerOf } from '@/lib/oauth/addresses';
import { getFrom, postTo } from '../ask-public';
import { resourceParameter } from './clients';
import type { Trial } from './trial';

/** The challenge of RFC 7636's example. */
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

/** A person's browser goes there, not the client. */
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';

/** Starts an authorization request up to the sign-in page. It stops there, so no code is issued. */
export async function authorize({ runtime, traits, clientId = '' }: Trial): Promise<string | null> {
  const { env } = runtime;
  const resource = resourceParameter(traits, env);
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: traits.redirect,
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
    state: 'check',
    ...(resource !== null && { resource }),
  });
  const { status, headers } = await getFrom(`${issuerOf(env)}/oauth2/authorize?${query}`, BROWSER);
  const to = new URL(headers.get('location') ?? '', env.publicUrl);
  if (status === 302 && to.pathname === '/sign-in') return null;
  const error = to.searchParams.get('error');
  return `It is not led to the sign-in, but to ${to.pathname} (${error ?? status}).`;
}

export async function askToken({
  runtime,
  traits,
  clientId = '',
  secret = null,
}: Trial): Promise<string | null> {
  const { env } = runtime;
  const resource = resourceParameter(traits, env);
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code: 'none',
    redirect_uri: traits.redirect,
    code_verifier: CHALLENGE,
    ...(resource !== null && { resource }),
    ...(secret === null && { client_id: clientId }),
  });
  const basic = `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`;
  const answer = await postTo(`${issuerOf(env)}/oauth2/token`, form, {
    'user-agent': traits.userAgent,
    ...(secret !== null && { authorization: basic }),
  });
  const { error } = (await answer.json()) as { error?: string };
  if (error === 'invalid_grant') return null;
  if (error === 'invalid_client' && secret !== null)
    return 'The header Authorization is lost on the way to the token endpoint.';
  return `A wrong code is answered with ${answer.status} ${error}.`;
}
