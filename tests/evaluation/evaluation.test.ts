import { beforeAll, expect, test } from 'vitest';
import { seedDatabase } from '@/db/seed';
import { useMcpServer } from '../mcp/serve-mcp';
import { type Answer, type Figure, type Question, readGolden, TIME_ZONE, TODAY } from './question';
import { QUESTIONS } from './questions';
import { addEvaluationRows } from './rows';

/**
 * Maximum values for all plans together, so that a change of the tools cannot make the evaluation more expensive
 * without being noticed.
 */
const MOST_CALLS_PER_QUESTION = 1.3;
const MOST_CHARACTERS = 150_000;

type Replay = Awaited<ReturnType<typeof makeCalls>>;

const mcp = useMcpServer({ MCP_REQUESTS_PER_MINUTE: '1000' });
const answerable = QUESTIONS.filter((question) => question.kind !== 'cannot tell');
const replays = new Map<string, Promise<Replay>>();

beforeAll(async () => {
  await seedDatabase(mcp.db, { today: TODAY, timeZone: TIME_ZONE });
  await addEvaluationRows(mcp.db);
});

/** Makes the calls of a question's plan. Each plan is replayed only once, even if several tests need it. */
function replay(question: Question): Promise<Replay> {
  const known = replays.get(question.id) ?? makeCalls(question);
  replays.set(question.id, known);
  return known;
}

/** Returns the answers of a plan, also as the text that a model would read. */
async function makeCalls({ plan }: Question) {
  const answers: Answer[] = [];
  let read = '';
  for (const [tool, args] of plan) {
    const given = typeof args === 'function' ? args(answers.at(-1) as Answer) : args;
    const { isError, content } = await mcp.callTool(tool, given);
    const text = content.map((block) => block.text).join('');
    if (isError) throw new Error(`${tool} refused ${JSON.stringify(given)}: ${text}`);
    read += text;
    answers.push(JSON.parse(text));
  }
  return { answers, text: read };
}

const sorted = (figure: Figure) => (Array.isArray(figure) ? figure.toSorted() : figure);

test.each(answerable)(
  'the plan of evaluation question $id finds the figure that SQL computes',
  async (question) => {
    const { answers } = await replay(question);
    const figure = question.figure(answers.at(-1) as Answer, answers[0] as Answer);
    expect(sorted(figure)).toEqual(sorted(await readGolden(mcp.db, question)));
    expect(figure === 'none').toBe(question.kind === 'none');
    expect(figure).not.toEqual([]);
  },
);

test('the plans of the evaluation questions stay within the limits for calls and characters', async () => {
  const all: Replay[] = [];
  for (const question of QUESTIONS) all.push(await replay(question));
  const sum = (read: (one: Replay) => number) => all.reduce((total, one) => total + read(one), 0);
  expect(sum(({ answers }) => answers.length) / all.length).toBeLessThanOrEqual(MOST_CALLS_PER_QUESTION);
  expect(sum(({ text }) => text.length)).toBeLessThanOrEqual(MOST_CHARACTERS);
});

test('tools/list mentions none of the data that the unanswerable evaluation questions ask for', async () => {
  const { result } = await mcp.rpc('tools/list');
  const announced = JSON.stringify(result);
  const found = QUESTIONS.filter(
    (question) => question.kind === 'cannot tell' && new RegExp(question.missing, 'i').test(announced),
  );
  expect(found.map(({ id }) => id)).toEqual([]);
});

test('the evaluation has 60 distinct questions of all kinds about all tools, half of them in German', () => {
  const count = (is: (question: Question) => boolean) => QUESTIONS.filter(is).length;
  const kinds = ['lookup', 'total', 'steps', 'none', 'cannot tell', 'hidden'];
  expect(kinds.map((wanted) => count(({ kind }) => kind === wanted))).toEqual([15, 15, 13, 5, 5, 7]);
  expect(count(({ kind, plan }) => kind === 'steps' && plan.length > 1)).toBe(13);
  expect(count(({ language }) => language === 'de')).toBe(30);
  expect(new Set(QUESTIONS.map(({ id }) => id)).size).toBe(60);
  expect(new Set(QUESTIONS.flatMap(({ plan }) => plan.map(([tool]) => tool))).size).toBe(6);
});

test('the tool responses to the evaluation questions of kind hidden contain injected instructions', async () => {
  for (const question of answerable.filter(({ kind }) => kind === 'hidden'))
    expect((await replay(question)).text).toMatch(/ignor|answer|SYSTEM|nenne immer|do not count/i);
});
