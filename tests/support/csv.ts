import { expect } from 'vitest';

/** The lines of a CSV file without the quotes that every cell has, checked to have them. No cell holds `\r\n`. */
export function unquotedLines(text: string): string[] {
  return text.split('\r\n').map((line) => {
    expect(line).toMatch(/^("([^"]|"")*"(,"([^"]|"")*")*)?$/);
    return line.slice(1, -1).replaceAll('","', ',').replaceAll('""', '"');
  });
}
