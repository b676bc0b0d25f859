import { json } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { useDatabase } from '../support/database';
import { createServer } from '../support/factories';
import { serveHandler } from '../support/serve-handler';
import { askModel, type Model } from './ask-model';
import { isRight } from './grade';
import { addSection, measureModel, summarize } from './measure-model';
import type { Question } from './question';
import { readSettings } from './settings';

interface ModelRequest {
  model: string;
  messages: object[];
  tools: object[];
}

/** A turn of the fake model: the arguments of a call of list-servers-tool, or the final text. */
type Turn = object | string;

/** Renders a turn of the fake model as a response, by protocol. */
const WRITERS: Record<Model['protocol'], (turn: Turn) => object> = {
  openai: (turn) => ({
    choices: [
      {
        message: {
          role: 'assistant',
          ...(typeof turn === 'string'
            ? { content: turn }
            : {
                content: null,
                tool_calls: [
                  {
                    id: 'call_1',
                    type: 'function',
                    function: { name: 'list-servers-tool', arguments: JSON.stringify(turn) },
                  },
                ],
              }),
        },
      },
    ],
    usage: { prompt_tokens: 100, completion_tokens: 7, total_tokens: 107 },
  }),
  anthropic: (turn) => ({
    role: 'assistant',
    content: [
      typeof turn === 'string'
        ? { type: 'text', text: turn }
        : { type: 'tool_use', id: 'call_1', name: 'list-servers-tool', input: turn },
    ],
    usage: { input_tokens: 60, cache_read_input_tokens: 40, output_tokens: 7 },
  }),
};

const PROTOCOLS = ['openai', 'anthropic'] as const;

describe('the loop between a model and the tools', () => {
  const database = useDatabase();
  const servers: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
  });

  /** Serves a model that takes these turns in order and repeats the last one. */
  const serveModel = async (protocol: Model['protocol'], turns: Turn[]) => {
    const asked: ModelRequest[] = [];
    const server = await serveHandler(async (request, response) => {
      asked.push((await json(request)) as ModelRequest);
      const turn = turns[Math.min(asked.length, turns.length) - 1] ?? '';
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(WRITERS[protocol](turn)));
    });
    servers.push(server);
    const model: Model = { baseUrl: `${server.url}/v1`, apiKey: 'key', name: 'fake', protocol };
    return { model, asked };
  };

  test.each(PROTOCOLS)(
    'an evaluated model with the %s protocol can call a tool and answer',
    async (protocol) => {
      const { hostname } = await createServer(database.db);
      const { model, asked } = await serveModel(protocol, [
        { hostname },
        { fields: ['hostname'] },
        `It is there.\nANSWER: ${hostname}`,
      ]);
      const transcript = await askModel(database.db, model, 'Which servers are there?');
      expect(transcript).toEqual({
        text: `It is there.\nANSWER: ${hostname}`,
        ...{ calls: 2, refused: 1, inputTokens: 300, outputTokens: 21 },
      });
      const last = JSON.stringify(asked.at(-1)?.messages);
      expect(last).toContain('Unknown argument');
      expect(last).toContain(hostname);
      expect(asked[0]?.tools).toHaveLength(6);
      expect(JSON.stringify(asked[0])).toContain('Today is 2026-11-21.');
    },
  );

  test.each(PROTOCOLS)(
    'an evaluated model with the %s protocol is stopped after 12 tool calls',
    async (protocol) => {
      const { model, asked } = await serveModel(protocol, [{}]);
      const transcript = await askModel(database.db, model, 'Which servers are there?');
      expect(transcript).toMatchObject({ text: '', calls: 12 });
      expect(asked).toHaveLength(12);
    },
  );

  test('the evaluation results of a model replace its earlier results in the document', async () => {
    const question: Question = {
      ...{ id: 'servers', language: 'en', kind: 'total', text: 'How many servers are there?' },
      ...{ plan: [], figure: ({ data }) => data.length, golden: 'select 2' },
    };
    const unknown: Question = {
      ...{ id: 'space', language: 'en', kind: 'cannot tell', text: 'How much space is free?' },
      ...{ plan: [], missing: 'free' },
    };
    const { model } = await serveModel('openai', [{}, 'ANSWER: **2 servers**', 'ANSWER: 5 | 6']);
    const measured = await measureModel(database.db, model, [question, unknown]);
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
  const env = {
    EVAL_BASE_URL: 'https://api.example.com/v1',
    EVAL_API_KEY: 'key',
    EVAL_MODEL: 'fake',
    EVAL_PROTOCOL: 'openai',
  };
  expect(readSettings(env).model.protocol).toBe('openai');
  expect(() => readSettings({ ...env, EVAL_API_KEY: undefined, EVAL_PROTOCOL: 'other' })).toThrow(
    'Missing or wrong: EVAL_API_KEY, EVAL_PROTOCOL.',
  );
});
