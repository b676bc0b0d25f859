const WIDTH = 24;

/** Shows how far something is: one line that is redrawn on a terminal, elsewhere a line for each step and each tenth. */
export class ProgressBar {
  private told = '';

  constructor(private readonly out: { isTTY: boolean; write(text: string): unknown } = process.stderr) {}

  /** @param label of the step under way; @param note what else there is to say */
  show(done: number, total: number, label: string, note: string): void {
    const filled = Math.round((WIDTH * done) / Math.max(total, 1));
    const bar = `[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${done}/${total} ${label}`;
    if (this.out.isTTY) this.out.write(`\r\u001b[K${bar}  ${note}`);
    const told = `${label} ${Math.floor((10 * done) / Math.max(total, 1))}`;
    if (!this.out.isTTY && told !== this.told) this.out.write(`${bar}\n`);
    this.told = told;
  }

  /** Leaves the terminal's line to what comes next. */
  end(): void {
    if (this.out.isTTY) this.out.write('\r\u001b[K');
  }
}

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
