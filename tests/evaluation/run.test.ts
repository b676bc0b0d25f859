import { json } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { useDatabase } from '../support/database';
import { createServer } from '../support/factories';
import { serveHandler } from '../support/serve-handler';
import { askModel, type Model } from './ask-model';
import { isRight } from './grade';
import { addSection, measureModel, summarize } from './measure-model';
import { declareQuestions } from './question';
import { readSettings } from './settings';

/** A turn of the fake model: the arguments of a call of list-servers-tool, or the final text. */
type Turn = object | string;

const CALL = { id: 'call_1', name: 'list-servers-tool' };

/** Renders a turn of the fake model as a response, by protocol. */
const WRITERS: Record<Model['protocol'], (turn: Turn) => object> = {
  openai: (turn) => {
    const { id, name } = CALL;
    const call = { id, type: 'function', function: { name, arguments: JSON.stringify(turn) } };
    const said = typeof turn === 'string' ? { content: turn } : { content: null, tool_calls: [call] };
    return {
      choices: [{ message: { role: 'assistant', ...said } }],
      usage: { prompt_tokens: 100, completion_tokens: 7, total_tokens: 107 },
    };
  },
  anthropic: (turn) => ({
    role: 'assistant',
    content: [
      typeof turn === 'string' ? { type: 'text', text: turn } : { type: 'tool_use', ...CALL, input: turn },
    ],
    usage: { input_tokens: 60, cache_read_input_tokens: 40, output_tokens: 7 },
  }),
};

describe('the loop between a model and the tools', () => {
  const database = useDatabase();
  let server: Awaited<ReturnType<typeof serveHandler>> | undefined;
  afterEach(() => server?.close());

  /** Serves a model that takes these turns in order and repeats the last one. */
  const serveModel = async (protocol: Model['protocol'], turns: Turn[]) => {
    const asked: { messages: object[]; tools: object[] }[] = [];
    server = await serveHandler(async (request, response) => {
      asked.push((await json(request)) as (typeof asked)[number]);
      const turn = turns[Math.min(asked.length, turns.length) - 1] ?? '';
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(WRITERS[protocol](turn)));
    });
    const model: Model = { baseUrl: `${server.url}/v1`, apiKey: 'key', name: 'fake', protocol };
    return { model, asked };
  };

  test.each(['openai', 'anthropic'] as const)(
    'an evaluated model with the %s protocol can answer after a refused and a successful tool call',
    async (protocol) => {
      const { hostname } = await createServer(database.db);
      const text = `It is there.\nANSWER: ${hostname}`;
      const { model, asked } = await serveModel(protocol, [{ hostname }, { fields: ['hostname'] }, text]);
      const transcript = await askModel(database.db, model, 'Which servers are there?');
      expect(transcript).toEqual({ text, calls: 2, refused: 1, inputTokens: 300, outputTokens: 21 });
      const last = JSON.stringify(asked.at(-1)?.messages);
      expect(last).toContain('Unknown argument');
      expect(last).toContain(hostname);
      expect(asked[0]?.tools).toHaveLength(6);
      expect(JSON.stringify(asked[0])).toContain('Today is 2026-11-21.');
    },
  );

  test('an evaluated model is stopped after 12 tool calls', async () => {
    const { model, asked } = await serveModel('openai', [{}]);
    const transcript = await askModel(database.db, model, 'Which servers are there?');
    expect([transcript, asked.length]).toMatchObject([{ text: '', calls: 12 }, 12]);
  });

  test('the evaluation document gets a section with a summary and a table, in place of one with the same title', async () => {
    const servers = { en: 'How many servers are there?', plan: [], figure: () => 2, golden: 'select 2' };
    const space = { en: 'How much space is free?', missing: 'free' };
    const questions = declareQuestions({ total: { servers }, 'cannot tell': { space } });
    const { model } = await serveModel('openai', [{}, 'ANSWER: **2 servers**', 'ANSWER: 5 | 6']);
    const measured = await measureModel(database.db, model, questions);
    expect(summarize(measured)).toBe(
      '1 of 2 right, 0.50 calls per question, 0 calls refused, 300 input tokens, 21 output tokens.',
    );
    const empty = '# Title\n\n<!-- models -->\n\nNo model has been measured yet.\n';
    const document = addSection(empty, 'fake, 2026-11-21', measured);
    expect(document).not.toContain('No model');
    expect(document).toContain('| servers | total | right | 1 | 0 | 200 | 14 |');
    expect(document).toContain('| space | cannot tell | wrong: 5   6 | 0 | 0 | 100 | 7 |');
    expect(addSection(document, 'fake, 2026-11-21', measured)).toBe(document);
    expect(addSection(document, 'other, 2026-11-21', measured)).toContain('### fake, 2026-11-21\n');
  });
});

test.each<[string, string | number | string[], boolean]>([
  ['It owes 5.\nANSWER: 1,234.50 EUR', 1234.5, true],
  ['ANSWER: 3 of 8', 3, false],
  ['**ANSWER: `None`.**', 'none', true],
  ['ANSWER: k10042', 'K10042', true],
  ['ANSWER: K1, K3; K2', ['K1', 'K2', 'K3'], true],
  ['ANSWER: K1', ['K1', 'K2'], false],
  ['ANSWER: month 12.50, year 7', ['month 12.5', 'year 7'], true],
  ['ANSWER: 203.0.113.20', '203.0.113.2', false],
  ['ANSWER: 1\nANSWER: 2', 2, true],
  ['**ANSWER**: 2', 2, true],
  ['There are 2.', 2, false],
])('the grade of the model answer %j for the expected figure %j is %j', (text, figure, right) => {
  expect(isRight(text, figure)).toBe(right);
});

test('npm run eval names the environment variables that are missing or wrong', () => {
  const address = { EVAL_BASE_URL: 'https://api.example.com/v1', EVAL_API_KEY: 'key' };
  const env = { ...address, EVAL_MODEL: 'fake', EVAL_PROTOCOL: 'openai' };
  expect(readSettings(env).model.protocol).toBe('openai');
  expect(() => readSettings({ ...env, EVAL_API_KEY: undefined, EVAL_PROTOCOL: 'other' })).toThrow(
    'Missing or wrong: EVAL_API_KEY, EVAL_PROTOCOL.',
  );
});
