import { issuerOf } from '@/lib/oauth/addresses';
import { ALL_READ } from '@/lib/oauth/scopes';
import type { Connection } from './connection';

// Clients that call from their vendors' servers: they take OAuth, and public https addresses.

export function claudeAi(url: string): Connection {
  return {
    client: 'claude.ai',
    how: 'Customize, Connectors, +, Add custom connector: paste the address, then Connect, sign in here and allow it. In Team and Enterprise plans an owner adds it first. Claude Desktop and the mobile apps then have it too.',
    language: 'text',
    snippet: url,
  };
}

export function chatGpt(url: string): Connection {
  return {
    client: 'ChatGPT',
    how: 'In a browser, at `chatgpt.com/plugins`: +, Add custom MCP server: paste the address as Server URL, choose OAuth, sign in here and allow it. If that entry is missing, first turn on Developer mode under Settings, Security and login.',
    language: 'text',
    snippet: url,
  };
}

export function geminiEnterprise(publicUrl: string): Connection {
  const issuer = issuerOf({ publicUrl });
  return {
    client: 'Gemini Enterprise',
    how: 'An admin here registers it under Access tokens, OAuth clients, with a secret and the redirect address `https://vertexaisearch.cloud.google.com/oauth-redirect`. Then, in the Google Cloud console, create a data store of type Custom MCP Server and enter these values with the client’s ID and secret.',
    language: 'text',
    snippet: [
      `MCP server URL:    ${publicUrl}/mcp`,
      `Authorization URL: ${issuer}/oauth2/authorize`,
      `Token URL:         ${issuer}/oauth2/token`,
      `Scopes:            ${ALL_READ}`,
    ].join('\n'),
  };
}

export function copilotStudio(url: string): Connection {
  return {
    client: 'Copilot Studio',
    how: 'Tools, Add a tool, New tool, Model Context Protocol: paste the address as Server URL, then OAuth 2.0 and Dynamic discovery. If you choose Manual, an admin here first registers it under Access tokens, OAuth clients, with a secret and the callback URL that Copilot Studio shows.',
    language: 'text',
    snippet: url,
  };
}
