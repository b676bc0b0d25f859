import { expect } from 'vitest';

/**
 * Returns the lines of a CSV file without the quotes around cells. Expects every cell to be quoted and free of `\r\n`.
 */
export function unquotedLines(text: string): string[] {
  return text.split('\r\n').map((line) => {
    expect(line).toMatch(/^("([^"]|"")*"(,"([^"]|"")*")*)?$/);
    return line.slice(1, -1).replaceAll('","', ',').replaceAll('""', '"');
  });
}
