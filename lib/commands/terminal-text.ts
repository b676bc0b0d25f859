const WIDTH = 24;

/** Shows progress: redraws one line on a terminal, otherwise prints a line for each tenth of a step. */
export class ProgressBar {
  private told = '';

  constructor(private readonly out: { isTTY: boolean; write(text: string): unknown } = process.stderr) {}

  /** Shows the current state. @param label name of the current step @param note additional text */
  show(done: number, total: number, label: string, note: string): void {
    const filled = Math.round((WIDTH * done) / Math.max(total, 1));
    const bar = `[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${done}/${total} ${label}`;
    if (this.out.isTTY) this.out.write(`\r\u001b[K${bar}  ${note}`);
    const told = `${label} ${Math.floor((10 * done) / Math.max(total, 1))}`;
    if (!this.out.isTTY && told !== this.told) this.out.write(`${bar}\n`);
    this.told = told;
  }

  /** Clears the terminal's line for the next output. */
  end(): void {
    if (this.out.isTTY) this.out.write('\r\u001b[K');
  }
}

const MAX_WIDTH = 40;

/** Formats rows as a text table. Each column is as wide as its longest cell, at most `MAX_WIDTH`. */
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
