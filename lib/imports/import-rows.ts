import type { FieldError } from '../errors';
import type { Row, Saved } from '../records/record-kind';
import type { CsvRow } from './csv-rows';
import type { ImportDeps, ImportListener } from './import-deps';
import type { ImportKind } from './import-kind';
import type { ImportCounts } from './import-log';
import { type RowSource, readRow } from './read-row';
import { rowProblems } from './row-problems';
import { type RowUnit, RowUnits } from './row-units';
import { saveBatch } from './save-batch';
import { SeenKeys } from './seen-keys';

type Source = RowSource & { options: { dryRun: boolean }; importId: number | null };

/** Rows that are to be written, or what is wrong with them. */
type Prepared = { unit: RowUnit } & ({ values: Row; namesEarlier: boolean } | { problems: FieldError[] });

/** What became of rows that were to be written. */
type Done = { prepared: Prepared; saved: Saved };

/** The rows of one file on their way into the database: prepared in their order, then saved, then counted. */
export class ImportRows {
  readonly counts: ImportCounts = { created: 0, changed: 0, unchanged: 0, rejected: 0 };
  private readonly units: RowUnits;
  private readonly seen = new SeenKeys();

  constructor(
    private readonly deps: ImportDeps,
    private readonly kind: ImportKind,
    private readonly source: Source,
    private readonly listener: Pick<ImportListener, 'onProblem'>,
  ) {
    this.units = new RowUnits(kind);
  }

  /** @param isLast no more rows come */
  prepare(rows: CsvRow[], isLast: boolean): Prepared[] {
    const read = rows.map((row) => readRow(row, this.source));
    return this.units.add(read, isLast).map((unit) => this.prepareUnit(unit));
  }

  async save(prepared: Prepared[]): Promise<Done[]> {
    const { actor, now, timeZone, db } = this.deps;
    const { importId, options } = this.source;
    const drafts = prepared.flatMap((one) => ('values' in one ? { values: one.values } : []));
    const writer = { actor, now: now(), timeZone, importId };
    const saved = await saveBatch(db, this.kind, drafts, writer, options.dryRun);
    let next = 0;
    return prepared.map((one) => {
      if ('problems' in one) return { prepared: one, saved: { outcome: 'refused', problems: one.problems } };
      const outcome = saved[next++];
      if (!outcome) throw new Error('a row was lost');
      return { prepared: one, saved: outcome };
    });
  }

  /** Counts rows and tells what is wrong with them. @returns those that were refused, as they stand in the file */
  count(done: Done[]): string[] {
    return done.flatMap(({ prepared, saved }) => {
      const { rows } = prepared.unit;
      if (saved.outcome === 'refused' && !this.willPass(prepared, saved.problems)) {
        this.counts.rejected += rows.length;
        for (const { line, field, message } of rowProblems(prepared.unit, saved.problems)) {
          this.listener.onProblem(line, this.theirName(field), message);
        }
        return rows.map(({ row }) => row.raw);
      }
      const outcome = saved.outcome === 'refused' ? 'created' : saved.outcome;
      this.counts[outcome === 'outdated' ? 'unchanged' : outcome] += rows.length;
      return [];
    });
  }

  private prepareUnit(unit: RowUnit): Prepared {
    const { gather, namesEarlier } = this.kind;
    const unread = unit.rows.flatMap((one, i) =>
      one.problems.map(({ field, message }) => ({ field: gather ? `lines.${i}.${field}` : field, message })),
    );
    const problems = unread.length > 0 ? unread : this.keyProblems(unit);
    if (problems.length > 0) return { unit, problems };
    const all = unit.rows.map(({ values }) => values);
    const values = gather ? gather(all) : (all[0] ?? {});
    const named = namesEarlier && values[namesEarlier];
    const isEarlier = typeof named === 'string' && this.seen.has(this.seenAs(this.kind.keys[0] ?? '', named));
    return { unit, values, namesEarlier: isEarlier };
  }

  /** A row needs a key, so that it is known again, and one that no row before it has. */
  private keyProblems({ key, rows: [first] }: RowUnit): FieldError[] {
    if (!key) {
      return [{ field: this.kind.keys[0] ?? '', message: 'must not be empty: a row is known again by it' }];
    }
    const before = this.seen.note(this.seenAs(key.field, key.text), first?.row.line ?? 0);
    if (before === undefined) return [];
    const together = this.kind.gather ? ': all of one must stand together' : '';
    return [{ field: key.field, message: `is that of line ${before} too${together}` }];
  }

  private seenAs(field: string, key: string): string {
    return `${field} ${this.kind.toKey(key)}`;
  }

  /** Nothing stays of a batch that was only tried, so that a later one does not find the row that it names. */
  private willPass(prepared: Prepared, problems: FieldError[]): boolean {
    return (
      this.source.options.dryRun &&
      'values' in prepared &&
      prepared.namesEarlier &&
      problems.every(({ field }) => field === this.kind.namesEarlier)
    );
  }

  private theirName(field: string): string | null {
    if (field === '') return null;
    return this.source.header.columns.find(({ ours }) => ours?.name === field)?.theirs ?? field;
  }
}
