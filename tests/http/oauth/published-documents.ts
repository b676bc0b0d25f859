const CODE = { grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] };
const PUBLIC = { token_endpoint_auth_method: 'none' };

/** Metadata documents of real clients, as published in autumn 2026, each with one of its redirect URLs. */
export const PUBLISHED = [
  {
    redirect_uri: 'https://claude.ai/api/mcp/auth_callback',
    document: {
      client_id: 'https://claude.ai/oauth/mcp-oauth-client-metadata',
      client_name: 'Claude',
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
      ...CODE,
      grant_types: [...CODE.grant_types, 'urn:ietf:params:oauth:grant-type:jwt-bearer'],
      ...PUBLIC,
    },
  },
  {
    redirect_uri: 'http://localhost:54545/callback',
    document: {
      client_id: 'https://claude.ai/oauth/claude-code-client-metadata',
      client_name: 'Claude Code',
      client_uri: 'https://claude.ai',
      redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
      ...CODE,
      ...PUBLIC,
    },
  },
  {
    redirect_uri: 'https://chatgpt.com/connector_platform_oauth_redirect',
    document: {
      client_id: 'https://chatgpt.com/oauth/client.json',
      client_name: 'ChatGPT',
      client_uri: 'https://chatgpt.com/',
      redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
      ...CODE,
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
      token_endpoint_auth_signing_alg: 'RS256',
      jwks_uri: 'https://chatgpt.com/oauth/jwks.json',
    },
  },
  {
    redirect_uri: 'http://127.0.0.1:61234/callback',
    document: {
      client_id: 'https://chatgpt.com/oauth/codex/client.json',
      client_name: 'Codex',
      redirect_uris: ['http://127.0.0.1/callback', 'http://localhost/callback'],
      ...CODE,
      ...PUBLIC,
    },
  },
  {
    redirect_uri: 'http://127.0.0.1:33418/',
    document: {
      client_id: 'https://vscode.dev/oauth/client-metadata.json',
      client_name: 'Visual Studio Code',
      client_uri: 'https://vscode.dev/product',
      application_type: 'native',
      redirect_uris: ['http://127.0.0.1:33418/', 'https://vscode.dev/redirect'],
      ...CODE,
      grant_types: [...CODE.grant_types, 'urn:ietf:params:oauth:grant-type:device_code'],
      ...PUBLIC,
    },
  },
];
