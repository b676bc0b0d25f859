const MAX_WIDTH = 40;

/** Rows under their headings, in columns as wide as their longest cell. */
export function textTable(headings: string[], rows: string[][]): string {
  const cut = (cell: string) => (cell.length > MAX_WIDTH ? `${cell.slice(0, MAX_WIDTH - 1)}…` : cell);
  const lines = [headings, ...rows].map((row) => row.map(cut));
  const widths = headings.map((_, column) => Math.max(...lines.map((row) => row[column]?.length ?? 0)));
  return lines
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
