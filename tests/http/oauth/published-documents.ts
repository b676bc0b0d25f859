const CODE = ['authorization_code', 'refresh_token'];
const LOOPBACK = ['http://127.0.0.1/callback', 'http://localhost/callback'];

/** Builds the metadata document of a client, by default of a public one. `more` adds and replaces fields. */
const documentOf = (client_id: string, client_name: string, redirect_uris: string[], more = {}) => ({
  ...{ client_id, client_name, redirect_uris, grant_types: CODE, response_types: ['code'] },
  ...{ token_endpoint_auth_method: 'none', ...more },
});

const CLAUDE = 'https://claude.ai/api/mcp/auth_callback';
const CHATGPT = 'https://chatgpt.com/connector_platform_oauth_redirect';
const VS_CODE = 'http://127.0.0.1:33418/';

/** Metadata documents of real clients, as published in autumn 2026, each with a redirect URL that it allows. */
export const PUBLISHED = [
  {
    redirect_uri: CLAUDE,
    document: documentOf('https://claude.ai/oauth/mcp-oauth-client-metadata', 'Claude', [CLAUDE], {
      grant_types: [...CODE, 'urn:ietf:params:oauth:grant-type:jwt-bearer'],
    }),
  },
  {
    redirect_uri: 'http://localhost:54545/callback',
    document: documentOf('https://claude.ai/oauth/claude-code-client-metadata', 'Claude Code', LOOPBACK, {
      client_uri: 'https://claude.ai',
    }),
  },
  {
    redirect_uri: CHATGPT,
    document: documentOf('https://chatgpt.com/oauth/client.json', 'ChatGPT', [CHATGPT], {
      client_uri: 'https://chatgpt.com/',
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
      token_endpoint_auth_signing_alg: 'RS256',
      jwks_uri: 'https://chatgpt.com/oauth/jwks.json',
    }),
  },
  {
    redirect_uri: 'http://127.0.0.1:61234/callback',
    document: documentOf('https://chatgpt.com/oauth/codex/client.json', 'Codex', LOOPBACK),
  },
  {
    redirect_uri: VS_CODE,
    document: documentOf(
      'https://vscode.dev/oauth/client-metadata.json',
      'Visual Studio Code',
      [VS_CODE, 'https://vscode.dev/redirect'],
      {
        client_uri: 'https://vscode.dev/product',
        application_type: 'native',
        grant_types: [...CODE, 'urn:ietf:params:oauth:grant-type:device_code'],
      },
    ),
  },
];
