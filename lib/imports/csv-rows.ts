import { MAX_ROW } from './lines';
import { parseRows } from './parse-rows';
import { BROKEN_QUOTES, type RowText } from './row-texts';

/** A row and its cells, or why it has none. */
export type CsvRow = Omit<RowText, 'problem'> & ({ cells: string[] } | { problem: string });

/** How cells are told apart. */
export interface CsvShape {
  delimiter: string;
  doublesAllQuotes?: boolean | undefined;
}

/** The rows of a CSV file, so many at a time; of long ones fewer, so that a batch is never much more than one row may be. */
export async function* csvRows(
  texts: AsyncIterable<RowText>,
  shape: CsvShape,
  atOnce: number,
): AsyncGenerator<CsvRow[]> {
  let batch: RowText[] = [];
  let characters = 0;
  for await (const text of texts) {
    batch.push(text);
    characters += text.raw.length;
    if (batch.length < atOnce && characters < MAX_ROW) continue;
    yield withCells(batch, shape);
    batch = [];
    characters = 0;
  }
  if (batch.length > 0) yield withCells(batch, shape);
}

function withCells(texts: RowText[], { delimiter, doublesAllQuotes }: CsvShape): CsvRow[] {
  const good = texts.filter(({ problem }) => problem === undefined);
  const parsed = parseRows(
    good.map(({ raw }) => raw),
    delimiter,
    doublesAllQuotes,
  );
  const cellsOf = new Map(good.map((text, i) => [text, parsed[i]]));
  return texts.map((text) => {
    const cells = cellsOf.get(text);
    return cells
      ? { line: text.line, raw: text.raw, cells }
      : { ...text, problem: text.problem ?? BROKEN_QUOTES };
  });
}
