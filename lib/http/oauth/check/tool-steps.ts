import { resourceOf } from '@/lib/oauth/addresses';
import { issueTrialToken } from '@/lib/oauth/trial-client';
import { postTo } from '../ask-public';
import type { Trial } from './trial';

const INFO = { name: 'Connection check', version: '1.0.0' };
/** From it on there is no handshake: each request says all there is to know. */
const STATELESS = '2026-07-28';
const META = 'io.modelcontextprotocol/';

/** In the revision of the client: with a handshake, or without one. */
export async function begin(trial: Trial): Promise<string | null> {
  const { revision } = trial.traits;
  trial.token = await issueTrialToken(trial.runtime, trial.clientId ?? '', trial.userId);
  if (isStateless(revision)) return ask(trial, 'server/discover', {}, 'supportedVersions');
  const params = { protocolVersion: revision, capabilities: {}, clientInfo: INFO };
  return ask(trial, 'initialize', params, 'serverInfo');
}

export function listTools(trial: Trial): Promise<string | null> {
  return ask(trial, 'tools/list', {}, 'tools');
}

async function ask(
  { runtime, traits, token }: Trial,
  method: string,
  params: object,
  expects: string,
): Promise<string | null> {
  const { revision } = traits;
  const _meta = {
    [`${META}protocolVersion`]: revision,
    [`${META}clientInfo`]: INFO,
    [`${META}clientCapabilities`]: {},
  };
  const all = isStateless(revision) ? { ...params, _meta } : params;
  const answer = await postTo(
    resourceOf(runtime.env),
    { jsonrpc: '2.0', id: 1, method, params: all },
    {
      'user-agent': traits.userAgent,
      authorization: `Bearer ${token}`,
      ...(method !== 'initialize' && { 'mcp-protocol-version': revision }),
      ...(isStateless(revision) && { 'mcp-method': method }),
    },
  );
  if (answer.status === 401) return 'The header Authorization is lost on the way to the tools.';
  const { result } = (await answer.json()) as { result?: Record<string, unknown> };
  if (result?.[expects] !== undefined) return null;
  return `${method} of the revision ${revision} is answered with ${answer.status}.`;
}

function isStateless(revision: string): boolean {
  return revision >= STATELESS;
}
