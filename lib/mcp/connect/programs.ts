import { BEARER, type Connection, json, NAME } from './connection';

// Clients on a person's own machine.

export function claudeCode(url: string): Connection {
  return {
    client: 'Claude Code',
    how: 'In a terminal; `--scope user` adds it for all projects. Without `--header` it signs in: `/mcp`, Authenticate.',
    language: 'sh',
    snippet: `claude mcp add --transport http ${NAME} ${url} \\\n  --header "${BEARER}"`,
    placeholder: '$ACCESS_TOKEN',
  };
}

export function claudeDesktop(url: string): Connection {
  const http = url.startsWith('http:') ? ['--allow-http'] : [];
  const args = ['-y', 'mcp-remote', url, '--transport', 'http-only', ...http];
  return {
    client: 'Claude Desktop',
    how: 'Add a public address as in claude.ai. For any other: Settings, Developer, Edit Config (`claude_desktop_config.json`); the file accepts local programs only, so `mcp-remote` (needs Node) bridges to it. There is no space after `Authorization:`, because Windows would split the argument there.',
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
    placeholder: 'w5t_…',
  };
}

export function cursor(url: string): Connection {
  return {
    client: 'Cursor',
    how: 'In `~/.cursor/mcp.json`, or `.cursor/mcp.json` of a project; to sign in, choose Connect next to the server in the settings. Cursor ignores `headers` if a server offers OAuth, as this one does.',
    language: 'json',
    snippet: json({ mcpServers: { [NAME]: { url } } }),
  };
}

export function visualStudioCode(url: string): Connection {
  return {
    client: 'VS Code',
    how: 'In `.vscode/mcp.json`, or by the command "MCP: Open User Configuration"; it asks for the token once and keeps it. Without `inputs` and `headers` it signs in over OAuth.',
    language: 'json',
    snippet: json({
      inputs: [{ type: 'promptString', id: `${NAME}-token`, description: 'Access token', password: true }],
      servers: {
        [NAME]: { type: 'http', url, headers: { Authorization: `Bearer \${input:${NAME}-token}` } },
      },
    }),
  };
}

export function codex(url: string): Connection {
  return {
    client: 'Codex',
    how: `In \`~/.codex/config.toml\`; the command line, the editor extension and the ChatGPT desktop app read the same file. Without the last line, \`codex mcp login ${NAME}\` signs in.`,
    language: 'toml',
    snippet: `[mcp_servers.${NAME}]\nurl = "${url}"\nbearer_token_env_var = "ACCESS_TOKEN"`,
  };
}

export function geminiCli(url: string): Connection {
  return {
    client: 'Gemini CLI',
    how: `In \`~/.gemini/settings.json\`; \`/mcp auth ${NAME}\` signs in. Antigravity CLI, which replaced it for personal accounts, uses \`serverUrl\` instead of \`httpUrl\`, in \`~/.gemini/config/mcp_config.json\`.`,
    language: 'json',
    snippet: json({ mcpServers: { [NAME]: { httpUrl: url } } }),
  };
}

export function inspector(url: string): Connection {
  return {
    client: 'MCP Inspector',
    how: 'Lists the tools; without `--cli` and `--method` it opens a page in the browser. It needs Node 22.19 or newer.',
    language: 'sh',
    snippet: `npx @modelcontextprotocol/inspector --cli ${url} --transport http \\\n  --header "${BEARER}" --method tools/list`,
    placeholder: '$ACCESS_TOKEN',
  };
}

export function curl(url: string): Connection {
  const params = { name: 'find-customer-tool', arguments: { query: 'example' } };
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  return {
    client: 'curl',
    how: 'One call; `initialize` is not required.',
    language: 'sh',
    snippet: `curl -s ${url} -H "${BEARER}" \\\n  -H "Content-Type: application/json" \\\n  -d '${message}'`,
    placeholder: '$ACCESS_TOKEN',
  };
}
