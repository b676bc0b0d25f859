import { ALL_READ, issuerOf } from '../oauth/metadata';
import { PROTOCOL_VERSIONS } from './protocol';

export const CONNECT_INTRODUCTION =
  'Assistants that sign in over OAuth need only the address. The person who adds it signs in with their own account and chooses what the assistant may read. Other clients need an access token with the scope `mcp:read` (`npm run -s token -- create --name NAME --scopes mcp:read` prints one). Snippets with `ACCESS_TOKEN` read the token from the program’s environment (`export ACCESS_TOKEN=w5t_…`).';

export const CONNECT_LIMITS =
  'claude.ai, ChatGPT, Gemini Enterprise and Copilot Studio can only reach public https addresses. For pages in a browser, add their origin to `MCP_ALLOWED_ORIGINS`.';

export const CONNECT_PROTOCOLS = `Protocol revisions: ${PROTOCOL_VERSIONS.join(', ')}, over Streamable HTTP. Responses are plain JSON; there are no sessions and no event streams.`;

const CONNECT_VIEWS =
  'Hosts that support MCP Apps, such as claude.ai, ChatGPT and VS Code, show the answer of `get-customer-tool` as a card and that of `list-invoices-tool` as a table. Their page is the resource `ui://w5t/view`; it loads nothing and sends nothing. Other clients get the same answers as text and data.';

/** Instructions to connect one client to this server. */
export interface Connection {
  client: string;
  /** How to connect the client with the snippet, in Markdown. */
  how: string;
  language: 'sh' | 'json' | 'toml' | 'text';
  snippet: string;
  /** The part of the snippet to replace with an access token. Absent if the snippet itself contains no token. */
  placeholder?: string;
}

/** The name of this server in clients' settings. */
const NAME = 'w5t';
const BEARER = 'Authorization: Bearer $ACCESS_TOKEN';

function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/**
 * Returns the instructions for all clients, with snippets to paste.
 *
 * Sources of the instructions: support.claude.com/en/articles/11175166,
 * developers.openai.com/api/docs/guides/custom-mcp-server, code.claude.com/docs/en/mcp, github.com/geelen/mcp-remote,
 * cursor.com/docs/mcp, code.visualstudio.com/docs/agents/reference/mcp-configuration,
 * developers.openai.com/docs/extend/mcp, geminicli.com/docs/tools/mcp-server,
 * docs.cloud.google.com/gemini/enterprise/docs/connectors/custom-mcp-server,
 * learn.microsoft.com/microsoft-copilot-studio/mcp-add-existing-server-to-agent,
 * modelcontextprotocol.io/docs/tools/inspector
 *
 * @param publicUrl the server's URL without a trailing slash
 */
export function listConnections(publicUrl: string): Connection[] {
  const url = `${publicUrl}/mcp`;
  const http = url.startsWith('http:') ? ['--allow-http'] : [];
  const args = ['-y', 'mcp-remote', url, '--transport', 'http-only', ...http];
  const issuer = issuerOf({ publicUrl });
  const params = { name: 'find-customer-tool', arguments: { query: 'example' } };
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  return [
    {
      client: 'claude.ai',
      how: 'Customize, Connectors, +, Add custom connector: paste the address, then Connect, sign in here and allow it. In Team and Enterprise plans an owner adds it first. Claude Desktop and the mobile apps then have it too.',
      language: 'text',
      snippet: url,
    },
    {
      client: 'ChatGPT',
      how: 'In a browser, at `chatgpt.com/plugins`: +, Add custom MCP server: paste the address as Server URL, choose OAuth, sign in here and allow it. If that entry is missing, first turn on Developer mode under Settings, Security and login.',
      language: 'text',
      snippet: url,
    },
    {
      client: 'Claude Code',
      how: 'In a terminal; `--scope user` adds it for all projects. Without `--header` it signs in: `/mcp`, Authenticate.',
      language: 'sh',
      snippet: `claude mcp add --transport http ${NAME} ${url} \\\n  --header "${BEARER}"`,
      placeholder: '$ACCESS_TOKEN',
    },
    {
      client: 'Claude Desktop',
      how: 'Add a public address as in claude.ai. For any other: Settings, Developer, Edit Config (`claude_desktop_config.json`); the file accepts local programs only, so `mcp-remote` (needs Node) bridges to it. There is no space after `Authorization:`, because Windows would split the argument there.',
      language: 'json',
      snippet: json({
        mcpServers: {
          [NAME]: {
            command: 'npx',
            // biome-ignore lint/suspicious/noTemplateCurlyInString: mcp-remote replaces the placeholder
            args: [...args, '--header', 'Authorization:${AUTHORIZATION}'],
            env: { AUTHORIZATION: 'Bearer w5t_…' },
          },
        },
      }),
      placeholder: 'w5t_…',
    },
    {
      client: 'Cursor',
      how: 'In `~/.cursor/mcp.json`, or `.cursor/mcp.json` of a project; to sign in, choose Connect next to the server in the settings. Cursor ignores `headers` if a server offers OAuth, as this one does.',
      language: 'json',
      snippet: json({ mcpServers: { [NAME]: { url } } }),
    },
    {
      client: 'VS Code',
      how: 'In `.vscode/mcp.json`, or by the command "MCP: Open User Configuration"; it asks for the token once and keeps it. Without `inputs` and `headers` it signs in over OAuth.',
      language: 'json',
      snippet: json({
        inputs: [{ type: 'promptString', id: `${NAME}-token`, description: 'Access token', password: true }],
        servers: {
          [NAME]: { type: 'http', url, headers: { Authorization: `Bearer \${input:${NAME}-token}` } },
        },
      }),
    },
    {
      client: 'Codex',
      how: `In \`~/.codex/config.toml\`; the command line, the editor extension and the ChatGPT desktop app read the same file. Without the last line, \`codex mcp login ${NAME}\` signs in.`,
      language: 'toml',
      snippet: `[mcp_servers.${NAME}]\nurl = "${url}"\nbearer_token_env_var = "ACCESS_TOKEN"`,
    },
    {
      client: 'Gemini CLI',
      how: `In \`~/.gemini/settings.json\`; \`/mcp auth ${NAME}\` signs in. Antigravity CLI, which replaced it for personal accounts, uses \`serverUrl\` instead of \`httpUrl\`, in \`~/.gemini/config/mcp_config.json\`.`,
      language: 'json',
      snippet: json({ mcpServers: { [NAME]: { httpUrl: url } } }),
    },
    {
      client: 'Gemini Enterprise',
      how: 'An admin here registers it under Access tokens, OAuth clients, with a secret and the redirect address `https://vertexaisearch.cloud.google.com/oauth-redirect`. Then, in the Google Cloud console, create a data store of type Custom MCP Server and enter these values with the client’s ID and secret.',
      language: 'text',
      snippet: [
        `MCP server URL:    ${publicUrl}/mcp`,
        `Authorization URL: ${issuer}/oauth2/authorize`,
        `Token URL:         ${issuer}/oauth2/token`,
        `Scopes:            ${ALL_READ}`,
      ].join('\n'),
    },
    {
      client: 'Copilot Studio',
      how: 'Tools, Add a tool, New tool, Model Context Protocol: paste the address as Server URL, then OAuth 2.0 and Dynamic discovery. If you choose Manual, an admin here first registers it under Access tokens, OAuth clients, with a secret and the callback URL that Copilot Studio shows.',
      language: 'text',
      snippet: url,
    },
    {
      client: 'MCP Inspector',
      how: 'Lists the tools; without `--cli` and `--method` it opens a page in the browser. It needs Node 22.19 or newer.',
      language: 'sh',
      snippet: `npx @modelcontextprotocol/inspector --cli ${url} --transport http \\\n  --header "${BEARER}" --method tools/list`,
      placeholder: '$ACCESS_TOKEN',
    },
    {
      client: 'curl',
      how: 'One call; `initialize` is not required.',
      language: 'sh',
      snippet: `curl -s ${url} -H "${BEARER}" \\\n  -H "Content-Type: application/json" \\\n  -d '${message}'`,
      placeholder: '$ACCESS_TOKEN',
    },
  ];
}

/** The client whose snippet the README shows. */
const SHOWN = 'Claude Code';

/**
 * Returns the instructions in Markdown, without a heading.
 *
 * @param of `one` returns the instructions of one client and a link to the others
 */
export function toConnectMarkdown(publicUrl: string, of: 'all' | 'one' = 'all'): string {
  const all = listConnections(publicUrl);
  const shown = of === 'all' ? all : all.filter(({ client }) => client === SHOWN);
  const others = all.filter((one) => !shown.includes(one)).map(({ client }) => client);
  return [
    CONNECT_INTRODUCTION,
    ...shown.map(
      ({ client, how, language, snippet }) =>
        `**${client}.** ${how}\n\n\`\`\`${language}\n${snippet}\n\`\`\``,
    ),
    ...(others.length > 0
      ? [`${new Intl.ListFormat('en-GB').format(others)}: [docs/clients.md](docs/clients.md).`]
      : []),
    CONNECT_LIMITS,
    ...(of === 'all' ? [CONNECT_VIEWS] : []),
    CONNECT_PROTOCOLS,
  ].join('\n\n');
}
