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
