import type { FieldError } from '../errors';
import type { RowUnit } from './row-units';

/** What is wrong with a row of a file; the field is ours, '' for the whole row. */
export type RowProblem = FieldError & { line: number };

/**
 * Assigns the problems of rows that are written together to their rows, so that each row names its reason.
 *
 * @param problems those of one of several rows are named like `lines.0.text`
 */
export function rowProblems({ rows }: RowUnit, problems: FieldError[]): RowProblem[] {
  const ofRows = problems.map(({ field, message }) => {
    const [, at = '0', own = field] = OF_LINE.exec(field) ?? [];
    return { at: Number(at), field: own, message };
  });
  const first = rows[Math.min(...ofRows.map(({ at }) => at))]?.row.line;
  return rows.flatMap(({ row: { line }, values, problems: unread }, i) => {
    const own = ofRows.filter(({ at }) => at === i);
    if (own.length === 0) return { line, field: '', message: `is refused together with line ${first}` };
    return own.map(({ field, message }) => {
      const isMissing = unread.length === 0 && field !== '' && values[field] === undefined;
      return { line, field, message: isMissing && message.startsWith('must be') ? 'is needed' : message };
    });
  });
}

const OF_LINE = /^lines\.(\d+)\.(.*)$/;
