import { type FileHandle, open } from 'node:fs/promises';
import { withFile } from '../file-problem';

/** Beside a file: `customers.rejected.csv` of `customers.csv`. */
export function rejectedPath(path: string): string {
  return `${path.replace(/\.csv$/i, '')}.rejected.csv`;
}

/** Rows that were refused, as they stood in their file, below its first line: to be mended and imported again. */
export class RejectedFile {
  private file: FileHandle | undefined;

  constructor(
    readonly path: string,
    private readonly header: string,
  ) {}

  get isWritten(): boolean {
    return this.file !== undefined;
  }

  /** The file is made with its first row, for its owner alone; one of an import before is replaced. */
  async add(rows: string[]): Promise<void> {
    if (rows.length === 0) return;
    await withFile(this.path, async () => {
      const isNew = this.file === undefined;
      this.file ??= await open(this.path, 'w', 0o600);
      const lines = isNew ? [`\ufeff${this.header}`, ...rows] : rows;
      await this.file.appendFile(lines.map((line) => `${line}\r\n`).join(''));
    });
  }

  async close(): Promise<void> {
    await withFile(this.path, async () => this.file?.close());
  }
}
