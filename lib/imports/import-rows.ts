import type { FieldError } from '../errors';
import type { Draft, Saved } from '../records/record-kind';
import type { CsvRow } from './csv-rows';
import type { FileOptions } from './file-format';
import type { ImportDeps, ImportListener } from './import-deps';
import type { ImportKind } from './import-kind';
import type { ImportCounts } from './import-log';
import type { OpenImport } from './open-import';
import { saveBatch } from './save-batch';
import { toDraft } from './to-draft';

interface Source extends Pick<OpenImport, 'header' | 'constants'> {
  options: FileOptions & { dryRun: boolean };
  importId: number | null;
}

/** The rows of one file on their way into the database. */
export class ImportRows {
  readonly counts: ImportCounts = { created: 0, changed: 0, unchanged: 0, rejected: 0 };
  /** The lines of the keys that were there already. */
  private readonly lines = new Map<string, number>();

  constructor(
    private readonly deps: ImportDeps,
    private readonly kind: ImportKind,
    private readonly source: Source,
    private readonly listener: Pick<ImportListener, 'onProblem'>,
  ) {}

  /** @returns the rows that were refused, as they stand in the file */
  async save(rows: CsvRow[]): Promise<string[]> {
    const drafted = rows.map((row) => this.draft(row));
    const drafts = drafted.flatMap((one) => ('draft' in one ? one.draft : []));
    const saved = await saveBatch(this.deps.db, this.kind, drafts, this.writer(), this.source.options.dryRun);
    let next = 0;
    return rows
      .filter((row, i) => {
        const one = drafted[i];
        const outcome: Saved | undefined =
          one && 'problems' in one ? { outcome: 'refused', problems: one.problems } : saved[next++];
        return this.isRefused(row, outcome, one && 'draft' in one ? one.draft : undefined);
      })
      .map(({ raw }) => raw);
  }

  private writer() {
    const { actor, now, timeZone } = this.deps;
    return { actor, now: now(), timeZone, importId: this.source.importId };
  }

  private draft(row: CsvRow): { draft: Draft } | { problems: FieldError[] } {
    if ('problem' in row) return { problems: [{ field: '', message: row.problem }] };
    const { header, constants, options } = this.source;
    const drafted = toDraft(row.cells, header.columns, constants, options);
    if ('problems' in drafted) return drafted;
    const problem = this.keyProblem(drafted.draft, row.line);
    return problem ? { problems: [problem] } : drafted;
  }

  /** A row needs a key, so that it is known again, and one that no row before it has. */
  private keyProblem({ values }: Draft, line: number): FieldError | null {
    const { keys, toKey } = this.kind;
    const field = keys.find((name) => typeof values[name] === 'string');
    if (!field) {
      return { field: keys[0] ?? '', message: 'must not be empty: a row is known again by it' };
    }
    const key = `${field} ${toKey(String(values[field]))}`;
    const before = this.lines.get(key);
    if (before !== undefined) return { field, message: `is that of line ${before} too` };
    this.lines.set(key, line);
    return null;
  }

  private isRefused(row: CsvRow, saved: Saved | undefined, draft: Draft | undefined): boolean {
    if (!saved) throw new Error('a row was lost');
    if (saved.outcome !== 'refused') {
      this.counts[saved.outcome === 'outdated' ? 'unchanged' : saved.outcome] += 1;
      return false;
    }
    this.counts.rejected += 1;
    for (const { field, message } of saved.problems) {
      const isMissing =
        draft !== undefined &&
        field !== '' &&
        draft.values[field] === undefined &&
        message.startsWith('must be');
      this.listener.onProblem(row.line, this.theirName(field), isMissing ? 'is needed' : message);
    }
    return true;
  }

  private theirName(field: string): string | null {
    if (field === '') return null;
    return this.source.header.columns.find(({ ours }) => ours?.name === field)?.theirs ?? field;
  }
}
