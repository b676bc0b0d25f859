import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Database } from '@/db/database';
import { AppError } from '@/lib/errors';
import { EVERYTHING } from '@/lib/mcp/authenticate';
import { INSTRUCTIONS } from '@/lib/mcp/protocol';
import { TOOLS } from '@/lib/mcp/tools';
import { TODAY } from './question';

/** A model behind an HTTP API. */
export interface Model {
  /** The base URL before `/chat/completions` or `/messages`, such as `https://api.openai.com/v1`. */
  baseUrl: string;
  apiKey: string;
  name: string;
  protocol: keyof typeof PROTOCOLS;
}

/** How a model answered a question. */
export interface Transcript {
  /** The final text of the model. It is empty if the model wrote none or was stopped after 12 calls. */
  text: string;
  calls: number;
  /** Number of calls that a tool refused, for example because of an unknown argument. */
  refused: number;
  inputTokens: number;
  outputTokens: number;
}

const MAX_CALLS = 12;
const MAX_OUTPUT_TOKENS = 4096;

const SYSTEM = `${INSTRUCTIONS}

Today is ${TODAY}. End with the figure alone in the last line as "ANSWER: …". If there is no such thing, end with "ANSWER: none". If the tools cannot tell, end with "ANSWER: cannot tell". Write a number without its currency and without thousands separators, with a decimal point; a day as YYYY-MM-DD; a list separated by commas.`;

interface ToolCall {
  id: string;
  name: string;
  /** Arguments of the call. Undefined if the model wrote arguments that are not JSON. */
  args: unknown;
}

interface ToolResult {
  id: string;
  text: string;
  isError: boolean;
}

interface Reply extends Pick<Transcript, 'text' | 'inputTokens' | 'outputTokens'> {
  calls: ToolCall[];
  /** The model's reply in the form in which the next request must repeat it. */
  message: object;
}

/** The request and response formats of a model's API. */
interface Protocol {
  path: string;
  headers(apiKey: string): Record<string, string>;
  body(model: string, messages: object[]): object;
  read(response: unknown): Reply;
  toMessages(results: ToolResult[]): object[];
}

const text = z.string();
const toolCall = z.object({ id: text, function: z.object({ name: text, arguments: text }) });
const completion = z.object({
  choices: z.tuple([
    z.object({
      message: z.looseObject({ content: text.nullish(), tool_calls: z.array(toolCall).nullish() }),
    }),
  ]),
  usage: z.object({ prompt_tokens: z.int(), completion_tokens: z.int() }),
});

/** The chat protocol of OpenAI: https://platform.openai.com/docs/api-reference/chat */
const openai: Protocol = {
  path: '/chat/completions',
  headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  body: (model, messages) => ({
    model,
    messages: [{ role: 'system', content: SYSTEM }, ...messages],
    tools: TOOLS.map(({ wire: { name, description, inputSchema: parameters } }) => {
      return { type: 'function', function: { name, description, parameters } };
    }),
  }),
  read: (response) => {
    const { choices, usage } = completion.parse(response);
    const [{ message }] = choices;
    return {
      text: message.content ?? '',
      calls: (message.tool_calls ?? []).map(({ id, function: { name, arguments: json } }) => {
        return { id, name, args: parseArguments(json) };
      }),
      inputTokens: usage.prompt_tokens,
      outputTokens: usage.completion_tokens,
      message,
    };
  },
  toMessages: (results) => results.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text })),
};

function parseArguments(json: string): unknown {
  try {
    return json === '' ? {} : JSON.parse(json);
  } catch {
    return undefined;
  }
}

const [maybe, count, maybeCount] = [text.optional(), z.int(), z.int().nullish()];
const answeredMessage = z.object({
  // The blocks are sent back unchanged, so that none of their fields gets lost.
  content: z.array(z.looseObject({ type: text, text: maybe, id: maybe, name: maybe })),
  usage: z.looseObject({
    ...{ input_tokens: count, output_tokens: count },
    ...{ cache_creation_input_tokens: maybeCount, cache_read_input_tokens: maybeCount },
  }),
});

/** The messages protocol of Anthropic: https://docs.anthropic.com/en/api/messages */
const anthropic: Protocol = {
  path: '/messages',
  headers: (apiKey) => ({ 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }),
  body: (model, messages) => ({
    model,
    max_tokens: MAX_OUTPUT_TOKENS,
    system: SYSTEM,
    messages,
    tools: TOOLS.map(({ wire: { name, description, inputSchema: input_schema } }) => {
      return { name, description, input_schema };
    }),
  }),
  read: (response) => {
    const { content, usage } = answeredMessage.parse(response);
    const { cache_creation_input_tokens: written, cache_read_input_tokens: cached } = usage;
    return {
      text: content.flatMap(({ type, text }) => (type === 'text' && text ? text : [])).join('\n'),
      calls: content.flatMap(({ type, id = '', name = '', input }) =>
        type === 'tool_use' ? { id, name, args: input } : [],
      ),
      inputTokens: usage.input_tokens + (written ?? 0) + (cached ?? 0),
      outputTokens: usage.output_tokens,
      message: { role: 'assistant', content },
    };
  },
  toMessages: (results) => [
    {
      role: 'user',
      content: results.map(({ id, text, isError }) => {
        return { type: 'tool_result', tool_use_id: id, content: text, is_error: isError };
      }),
    },
  ],
};

export const PROTOCOLS = { openai, anthropic };

/**
 * Asks a model a question and makes the tool calls that the model requests, until it answers or has made 12 calls.
 *
 * @throws Error if the API returns an error or an unexpected response
 */
export async function askModel(db: Database, model: Model, question: string): Promise<Transcript> {
  const protocol = PROTOCOLS[model.protocol];
  const messages: object[] = [{ role: 'user', content: question }];
  const transcript = { text: '', calls: 0, refused: 0, inputTokens: 0, outputTokens: 0 };
  while (transcript.calls < MAX_CALLS) {
    const reply = protocol.read(await send(model, protocol, messages));
    transcript.inputTokens += reply.inputTokens;
    transcript.outputTokens += reply.outputTokens;
    if (reply.calls.length === 0) return { ...transcript, text: reply.text };
    const results: ToolResult[] = [];
    for (const call of reply.calls.slice(0, MAX_CALLS - transcript.calls))
      results.push(await callTool(db, call));
    transcript.calls += results.length;
    transcript.refused += results.filter(({ isError }) => isError).length;
    messages.push(reply.message, ...protocol.toMessages(results));
  }
  return transcript;
}

const TIMEOUT_MS = 180_000;
const MAX_TRIES = 4;
const RETRY_AFTER_MS = 5000;

/** Sends a conversation. Tries up to four times if the API limits the rate or answers with a 5xx status. */
async function send(model: Model, protocol: Protocol, messages: object[], tries = 1): Promise<unknown> {
  const response = await fetch(`${model.baseUrl.replace(/\/$/, '')}${protocol.path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...protocol.headers(model.apiKey) },
    body: JSON.stringify(protocol.body(model.name, messages)),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (response.ok) return response.json();
  const text = await response.text();
  if (tries >= MAX_TRIES || (response.status !== 429 && response.status < 500))
    throw new Error(`The API answered ${response.status}: ${text.slice(0, 300)}`);
  await sleep(RETRY_AFTER_MS * tries);
  return send(model, protocol, messages, tries + 1);
}

const toolArguments = z.record(z.string(), z.unknown());

/** Calls a tool with every permission. Returns a refusal as a result, like the MCP server. */
async function callTool(db: Database, { id, name, args }: ToolCall): Promise<ToolResult> {
  const refusal = (text: string) => ({ id, text, isError: true });
  const tool = TOOLS.find((one) => one.name === name);
  if (!tool) return refusal(`Unknown tool. The tools are ${TOOLS.map((one) => one.name).join(', ')}.`);
  const given = toolArguments.safeParse(args);
  if (!given.success) return refusal('The arguments must be a JSON object.');
  try {
    const { result } = await tool.call(db, given.data, EVERYTHING);
    return { id, text: JSON.stringify(result.structuredContent), isError: false };
  } catch (error) {
    if (error instanceof AppError) return refusal(error.message);
    throw error;
  }
}
