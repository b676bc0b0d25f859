import { PROTOCOL_VERSIONS } from './protocol';

/** How one client is told of this server. */
export interface Connection {
  client: string;
  /** Where the snippet goes, as a sentence in Markdown. */
  how: string;
  language: 'sh' | 'json' | 'toml';
  snippet: string;
}

const NAME = 'w5t';
const BEARER = 'Authorization: Bearer $ACCESS_TOKEN';

export const CONNECT_INTRODUCTION =
  'A client needs the address and an access token with the scope `mcp:read` (`npm run -s token -- create --name NAME --scopes mcp:read` prints one). Where a snippet names `ACCESS_TOKEN`, the token is read from the environment of the program (`export ACCESS_TOKEN=w5t_…`).';

export const CONNECT_LIMITS =
  'What does not work with a fixed token: connectors of ChatGPT and the custom connectors of claude.ai and Claude Desktop, which sign in over OAuth only. Pages in a browser need their origin in `MCP_ALLOWED_ORIGINS`.';

export const CONNECT_PROTOCOLS = `Protocol revisions: ${PROTOCOL_VERSIONS.join(', ')}, over Streamable HTTP. Answers are plain JSON; there are no sessions and no event streams.`;

/**
 * The snippets, ready to paste, for a server at `publicUrl` (without a trailing slash).
 *
 * Sources: code.claude.com/docs/en/mcp, github.com/geelen/mcp-remote, cursor.com/docs/mcp,
 * code.visualstudio.com/docs/copilot/reference/mcp-configuration, developers.openai.com/codex/mcp,
 * modelcontextprotocol.io/docs/tools/inspector
 */
export function listConnections(publicUrl: string): Connection[] {
  const url = `${publicUrl}/mcp`;
  return [
    claudeCode(url),
    claudeDesktop(url),
    cursor(url),
    visualStudioCode(url),
    codex(url),
    inspector(url),
    curl(url),
  ];
}

/** The same as a section of the README, without its heading. */
export function toConnectMarkdown(publicUrl: string): string {
  const clients = listConnections(publicUrl).map(
    ({ client, how, language, snippet }) => `**${client}.** ${how}\n\n\`\`\`${language}\n${snippet}\n\`\`\``,
  );
  return [CONNECT_INTRODUCTION, ...clients, CONNECT_LIMITS, CONNECT_PROTOCOLS].join('\n\n');
}

function claudeCode(url: string): Connection {
  return {
    client: 'Claude Code',
    how: 'In a terminal; `--scope user` adds it for all projects.',
    language: 'sh',
    snippet: `claude mcp add --transport http ${NAME} ${url} \\\n  --header "${BEARER}"`,
  };
}

function claudeDesktop(url: string): Connection {
  const http = url.startsWith('http:') ? ['--allow-http'] : [];
  const args = ['-y', 'mcp-remote', url, '--transport', 'http-only', ...http];
  return {
    client: 'Claude Desktop',
    how: 'Settings, Developer, Edit Config (`claude_desktop_config.json`); the file takes local programs only, so `mcp-remote` (needs Node) stands between. There is no space after `Authorization:`, because Windows would tear the argument apart there.',
    language: 'json',
    snippet: json({
      mcpServers: {
        [NAME]: {
          command: 'npx',
          // biome-ignore lint/suspicious/noTemplateCurlyInString: mcp-remote fills it in
          args: [...args, '--header', 'Authorization:${AUTHORIZATION}'],
          env: { AUTHORIZATION: 'Bearer w5t_…' },
        },
      },
    }),
  };
}

function cursor(url: string): Connection {
  return {
    client: 'Cursor',
    how: 'In `~/.cursor/mcp.json`, or `.cursor/mcp.json` of a project.',
    language: 'json',
    snippet: json({
      mcpServers: {
        // biome-ignore lint/suspicious/noTemplateCurlyInString: Cursor fills it in
        [NAME]: { url, headers: { Authorization: 'Bearer ${env:ACCESS_TOKEN}' } },
      },
    }),
  };
}

function visualStudioCode(url: string): Connection {
  return {
    client: 'VS Code',
    how: 'In `.vscode/mcp.json`, or by the command "MCP: Open User Configuration"; it asks for the token once and keeps it.',
    language: 'json',
    snippet: json({
      inputs: [{ type: 'promptString', id: `${NAME}-token`, description: 'Access token', password: true }],
      servers: {
        [NAME]: { type: 'http', url, headers: { Authorization: `Bearer \${input:${NAME}-token}` } },
      },
    }),
  };
}

function codex(url: string): Connection {
  return {
    client: 'Codex',
    how: 'In `~/.codex/config.toml`; the command line, the editor extension and the app read the same file.',
    language: 'toml',
    snippet: `[mcp_servers.${NAME}]\nurl = "${url}"\nbearer_token_env_var = "ACCESS_TOKEN"`,
  };
}

function inspector(url: string): Connection {
  return {
    client: 'MCP Inspector',
    how: 'Lists the tools; without `--cli` and `--method` it opens a page in the browser. It needs Node 22.19 or newer.',
    language: 'sh',
    snippet: `npx @modelcontextprotocol/inspector --cli ${url} --transport http \\\n  --header "${BEARER}" --method tools/list`,
  };
}

function curl(url: string): Connection {
  const params = { name: 'find-customer-tool', arguments: { query: 'example' } };
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  return {
    client: 'curl',
    how: 'One call; no `initialize` is asked for.',
    language: 'sh',
    snippet: `curl -s ${url} -H "${BEARER}" \\\n  -H "Content-Type: application/json" \\\n  -d '${message}'`,
  };
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
