/** Characters that a row may have: far more than any good one. */
export const MAX_ROW = 4_000_000;

export interface Line {
  /** The first is 1. */
  number: number;
  /** Without its line feed; only the beginning if `isTooLong`. */
  text: string;
  isTooLong: boolean;
  /** Why its characters are not certain. */
  problem?: string | undefined;
}

/** The lines of a text that comes in pieces. Of one that is too long only its beginning is kept. */
export async function* linesOf(pieces: AsyncIterable<string>, max = MAX_ROW): AsyncGenerator<Line> {
  let rest: string[] = [];
  let length = 0;
  let number = 1;
  const add = (part: string) => {
    if (length < max) rest.push(part);
    length += part.length;
  };
  const take = (): Line => {
    const text = rest.join('');
    const line = { number, text: text.slice(0, max), isTooLong: length > max };
    rest = [];
    length = 0;
    number += 1;
    return line;
  };
  for await (const piece of pieces) {
    let start = 0;
    for (let end = piece.indexOf('\n'); end >= 0; end = piece.indexOf('\n', start)) {
      add(piece.slice(start, end));
      yield take();
      start = end + 1;
    }
    add(piece.slice(start));
  }
  if (length > 0) yield take();
}
