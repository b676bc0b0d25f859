import { PROTOCOL_VERSIONS } from '../protocol';
import type { Connection } from './connection';
import { chatGpt, claudeAi, copilotStudio, geminiEnterprise } from './hosted';
import {
  claudeCode,
  claudeDesktop,
  codex,
  curl,
  cursor,
  geminiCli,
  inspector,
  visualStudioCode,
} from './programs';

export const CONNECT_INTRODUCTION =
  'Assistants that sign in over OAuth need only the address: whoever adds it signs in with their own account and chooses what the assistant may read. Others need an access token with the scope `mcp:read` (`npm run -s token -- create --name NAME --scopes mcp:read` prints one). Snippets with `ACCESS_TOKEN` read the token from the program’s environment (`export ACCESS_TOKEN=w5t_…`).';

export const CONNECT_LIMITS =
  'claude.ai, ChatGPT, Gemini Enterprise and Copilot Studio can only reach public https addresses. For pages in a browser, add their origin to `MCP_ALLOWED_ORIGINS`.';

export const CONNECT_PROTOCOLS = `Protocol revisions: ${PROTOCOL_VERSIONS.join(', ')}, over Streamable HTTP. Responses are plain JSON; there are no sessions and no event streams.`;

/**
 * The snippets, ready to paste, for a server at `publicUrl` (without a trailing slash).
 *
 * Sources: support.claude.com/en/articles/11175166, developers.openai.com/api/docs/guides/custom-mcp-server,
 * code.claude.com/docs/en/mcp, github.com/geelen/mcp-remote, cursor.com/docs/mcp,
 * code.visualstudio.com/docs/agents/reference/mcp-configuration, developers.openai.com/docs/extend/mcp,
 * geminicli.com/docs/tools/mcp-server, docs.cloud.google.com/gemini/enterprise/docs/connectors/custom-mcp-server,
 * learn.microsoft.com/microsoft-copilot-studio/mcp-add-existing-server-to-agent,
 * modelcontextprotocol.io/docs/tools/inspector
 */
export function listConnections(publicUrl: string): Connection[] {
  const url = `${publicUrl}/mcp`;
  return [
    claudeAi(url),
    chatGpt(url),
    claudeCode(url),
    claudeDesktop(url),
    cursor(url),
    visualStudioCode(url),
    codex(url),
    geminiCli(url),
    geminiEnterprise(publicUrl),
    copilotStudio(url),
    inspector(url),
    curl(url),
  ];
}

/** The client whose snippet the README shows. */
const SHOWN = 'Claude Code';

/** The same in Markdown, without a heading: of all clients, or of one and a link to the others. */
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
    ...(others.length > 0 ? [`${toSentence(others)}: [docs/clients.md](docs/clients.md).`] : []),
    CONNECT_LIMITS,
    CONNECT_PROTOCOLS,
  ].join('\n\n');
}

const toSentence = (names: string[]) => new Intl.ListFormat('en-GB').format(names);
