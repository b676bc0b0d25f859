import { expect, test } from 'vitest';
import { commandActor } from '@/lib/audit/record-audit';
import { disconnectApp, listConnectedApps } from '@/lib/oauth/connected-apps';
import { CALLBACK, ISSUER, PUBLIC_URL, RESOURCE, useFlow } from './flow';

const flow = useFlow();

test('the metadata leads from the endpoint to every address', async () => {
  const refused = await flow.call(null);
  expect(refused.status).toBe(401);
  expect(refused.headers.get('www-authenticate')).toBe(
    `Bearer realm="mcp", resource_metadata="${PUBLIC_URL}/.well-known/oauth-protected-resource/mcp", scope="mcp:read"`,
  );
  for (const path of ['', '/mcp']) {
    const read = await fetch(`${flow.server.url}/.well-known/oauth-protected-resource${path}`);
    expect(await read.json()).toMatchObject({ resource: RESOURCE, authorization_servers: [ISSUER] });
  }
  for (const path of [
    '/.well-known/oauth-authorization-server/api/auth',
    '/.well-known/openid-configuration/api/auth',
    '/api/auth/.well-known/openid-configuration',
  ]) {
    const read = await fetch(flow.server.url + path);
    expect(await read.json()).toMatchObject({
      issuer: ISSUER,
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
      code_challenge_methods_supported: ['S256'],
      registration_endpoint: `${ISSUER}/oauth2/register`,
    });
  }
});

test('from registration over consent to a call, a refresh and the end', async () => {
  const client = await flow.client();
  const page = await flow.authorize(client);
  expect(page.pathname).toBe('/oauth/consent');
  const back = await flow.consent(page, ['customers:read', 'billing:read', 'servers:read']);
  expect(back.href.split('?')[0]).toBe(CALLBACK);
  expect(Object.fromEntries(back.searchParams)).toMatchObject({ state: 'a state', iss: ISSUER });

  const first = await flow.exchange(client, back.searchParams.get('code') ?? '');
  expect(first).toMatchObject({ status: 200, body: { token_type: 'Bearer', expires_in: 3600 } });
  expect(await flow.status(first.body.access_token)).toBe(200);

  const second = await flow.refresh(client, first.body.refresh_token);
  expect(second.status).toBe(200);
  expect(await flow.status(second.body.access_token)).toBe(200);

  const [app] = await listConnectedApps(flow.server.runtime.db, flow.userId());
  expect(app).toMatchObject({ clientId: client, name: 'Test client' });
  const by = { of: flow.userId(), actor: commandActor('test') };
  await disconnectApp(flow.server.runtime.db, app?.id ?? '', by);
  expect(await flow.status(second.body.access_token)).toBe(401);
  expect((await flow.refresh(client, second.body.refresh_token)).body.error).toBe('invalid_grant');
});
