import { staffSecret } from '@/lib/auth/staff-auth';
import { issuerOf } from '@/lib/oauth/addresses';
import { readDocument } from '@/lib/oauth/discover-client';
import { insertClient } from '@/lib/oauth/register-client';
import { postTo } from '../ask-public';
import type { Trial } from './trial';

const NAME = 'Connection check';

/** Makes the client known here, the way it does it. */
export async function register(trial: Trial): Promise<string | null> {
  const { registers } = trial.traits;
  if (registers === 'by hand') return registerByHand(trial);
  if (registers === 'itself') return registerItself(trial);
  const read = await readDocument(trial.runtime, registers.document);
  if (typeof read === 'string') {
    return `Its metadata document ${registers.document} is not taken: ${read}.`;
  }
  trial.clientId = registers.document;
  return null;
}

async function registerItself(trial: Trial): Promise<string | null> {
  const { env } = trial.runtime;
  if (!env.oauth.dynamicRegistration) {
    return 'It registers itself, which OAUTH_DYNAMIC_REGISTRATION has off: an admin has to register it by hand.';
  }
  const metadata = {
    client_name: NAME,
    redirect_uris: [trial.traits.redirect],
    token_endpoint_auth_method: 'none',
  };
  const asked = { 'user-agent': trial.traits.userAgent };
  const answer = await postTo(`${issuerOf(env)}/oauth2/register`, metadata, asked);
  const made = (await answer.json()) as { client_id?: string; error_description?: string };
  if (answer.status !== 201 || !made.client_id) {
    return `It cannot register itself: ${made.error_description ?? `the answer is ${answer.status}`}`;
  }
  trial.clientId = made.client_id;
  trial.isMade = true;
  return null;
}

/** With a secret, as an admin enters a client that runs on a server. */
async function registerByHand(trial: Trial): Promise<null> {
  const { runtime, traits } = trial;
  const made = await insertClient(
    runtime,
    { redirectUris: [traits.redirect], name: NAME, uri: null, authMethod: 'client_secret_basic' },
    { secret: staffSecret(runtime.env, runtime.randomBytes), registeredFrom: null },
  );
  trial.clientId = made.clientId;
  trial.secret = made.clientSecret;
  trial.isMade = true;
  return null;
}
