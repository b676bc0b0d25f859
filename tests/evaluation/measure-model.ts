import type { Database } from '@/db/database';
import { askModel, type Model, type Transcript } from './ask-model';
import { answerOf, isRight } from './grade';
import { CANNOT_TELL, type Figure, type Question, readGolden } from './question';

/** A question with a model's answer. */
type Measured = Transcript & Pick<Question, 'id' | 'kind'> & { figure: Figure; isRight: boolean };

/**
 * Asks a model every question. A question that the API fails to answer counts as wrong.
 *
 * @param note function that is called with a line for each question
 * @throws Error if the API does not answer the first question, because the URL or the key is probably wrong
 */
export async function measureModel(
  db: Database,
  model: Model,
  questions: Question[],
  note: (line: string) => void = () => {},
): Promise<Measured[]> {
  const measured: Measured[] = [];
  const nothing = { calls: 0, refused: 0, inputTokens: 0, outputTokens: 0 };
  for (const question of questions) {
    const { id, kind } = question;
    const figure = question.kind === CANNOT_TELL ? CANNOT_TELL : await readGolden(db, question);
    const transcript = await askModel(db, model, question.text).catch((error: unknown) => {
      if (measured.length === 0) throw error;
      return { ...nothing, text: error instanceof Error ? error.message : String(error) };
    });
    const one = { ...transcript, id, kind, figure, isRight: isRight(transcript.text, figure) };
    measured.push(one);
    note(`${one.isRight ? 'right' : 'wrong'} ${id}, ${one.calls} calls: ${one.text.split('\n').at(-1)}`);
  }
  return measured;
}

/** Returns a sentence with the results of all questions. */
export function summarize(measured: Measured[]): string {
  const sum = (read: (one: Measured) => number) => measured.reduce((total, one) => total + read(one), 0);
  const number = (value: number) => value.toLocaleString('en-GB');
  const perQuestion = (sum(({ calls }) => calls) / measured.length).toFixed(2);
  const right = sum((one) => (one.isRight ? 1 : 0));
  const refused = sum((one) => one.refused);
  const [input, output] = [sum((one) => one.inputTokens), sum((one) => one.outputTokens)].map(number);
  return `${right} of ${measured.length} right, ${perQuestion} calls per question, ${refused} calls refused, ${input} input tokens, ${output} output tokens.`;
}

const START = '<!-- models -->';
const NOT_YET = 'No model has been measured yet.';

/** Adds a model's section at the end of the document. Removes an earlier section with the same title. */
export function addSection(document: string, title: string, measured: Measured[]): string {
  const [before = '', after = ''] = document.split(START);
  const sections = after
    .split(/^(?=### )/m)
    .map((section) => section.trim())
    .filter((section) => section !== '' && section !== NOT_YET && !section.startsWith(`### ${title}\n`));
  const all = [...sections, `### ${title}\n\n${summarize(measured)}\n\n${toTable(measured)}`];
  return `${before}${START}\n\n${all.join('\n\n')}\n`;
}

function toTable(measured: Measured[]): string {
  const rows = measured.map((one) => [
    one.id,
    one.kind,
    one.isRight ? 'right' : `wrong: ${toCell(answerOf(one.text))}`,
    ...[one.calls, one.refused, one.inputTokens, one.outputTokens].map(String),
  ]);
  const head = ['question', 'kind', 'answer', 'calls', 'refused', 'input tokens', 'output tokens'];
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** Shortens a model's answer and replaces characters that would break a Markdown table. */
const toCell = (answer: string) => answer.replace(/[|<>`\r\n]/g, ' ').slice(0, 60) || 'no answer';
