import { hash } from 'node:crypto';
import { type Database, isDatabaseUnavailable, pgErrorCode } from '@/db/database';
import { transact } from '@/db/transaction';
import type { Actor } from '../audit/audit-log';
import type { FieldError } from '../errors';
import { MAX_LINES } from '../invoices/lines';
import type { Draft, RecordWriter, Saved } from '../records/record-kind';
import { type ImportKind, type Refused, saveGood } from './import-kind';
import type { ImportCounts } from './import-log';
import { type ReadRow, type RowSource, readRow } from './open-import';
import type { CsvRow } from './text-file';

export interface ImportDeps {
  db: Database;
  now(): Date;
  timeZone: string;
  actor: Actor;
  /** Stops the import after the batches that were already started. */
  signal: AbortSignal;
}

/** Receives the progress of an import. */
export interface ImportListener {
  /**
   * Called for each problem.
   *
   * @param column name in the file, or our name if the file has no such column; null if the problem concerns the whole
   *   row
   */
  onProblem(line: number, column: string | null, message: string): void;
  onProgress(done: { counts: ImportCounts; bytes: number; ofBytes: number }): void;
  /** Called with the columns that the format does not use. */
  onLeftOut(columns: string[]): void;
}

type Source = RowSource & { options: { dryRun: boolean }; importId: number | null };

/** Rows that are written together, with their draft or the problems for which they are refused. */
interface Prepared {
  unit: RowUnit;
  draft: Draft | Refused;
  /** Whether the draft refers to an earlier row of the file. */
  namesEarlier: boolean;
}

type Done = Prepared & { saved: Saved };

/** Processes the rows of a file: prepares them in order, saves them, and counts the outcomes. */
export class ImportRows {
  readonly counts: ImportCounts = { created: 0, changed: 0, unchanged: 0, rejected: 0 };
  private readonly seen = new SeenKeys();
  /** The last unit of a batch. It is held back, because the next batch may continue it. */
  private held: RowUnit[] = [];

  constructor(
    private readonly deps: ImportDeps,
    private readonly kind: ImportKind,
    private readonly source: Source,
    private readonly listener: Pick<ImportListener, 'onProblem'>,
  ) {}

  /**
   * Parses rows and combines those that are written together.
   *
   * @param isLast true for the last call; any other call may keep the last rows for the next call
   */
  prepare(rows: CsvRow[], isLast: boolean): Prepared[] {
    const units = this.held;
    for (const row of rows.map((one) => readRow(one, this.source))) {
      const key = this.keyOf(row);
      const last = units.at(-1);
      if (last && this.continuesUnit(last, key, row)) last.rows.push(row);
      else units.push({ key, rows: [row] });
    }
    this.held = this.kind.gather && !isLast ? units.splice(-1) : [];
    return units.map((unit) => this.prepareUnit(unit));
  }

  /**
   * Returns whether a row belongs to the preceding unit. An unreadable row without a key does, so that all lines of an
   * invoice are refused together. A readable row without a key does not, because it may be a line of another invoice.
   */
  private continuesUnit({ key: before, rows }: RowUnit, key: RowUnit['key'], { problems }: ReadRow): boolean {
    if (!this.kind.gather || before === null || rows.length > MAX_LINES) return false;
    if (key === null) return problems.length > 0;
    return key.field === before.field && key.text === before.text;
  }

  private keyOf({ values }: ReadRow): RowUnit['key'] {
    const field = this.kind.keys.find((name) => typeof values[name] === 'string');
    return field === undefined ? null : { field, text: this.kind.toKey(String(values[field])) };
  }

  async save(prepared: Prepared[]): Promise<Done[]> {
    const { actor, now, timeZone, db } = this.deps;
    const { importId, options } = this.source;
    const writer = { actor, now: now(), clock: now, timeZone, importId };
    const judged = prepared.map(({ draft }) => draft);
    const save = (drafts: Draft[]) => saveBatch(db, this.kind, drafts, writer, options.dryRun);
    const saved = await saveGood(judged, save);
    return prepared.map((one, i) => ({ ...one, saved: saved[i] as Saved }));
  }

  /** Counts the outcomes, and reports problems. @returns the original text of the rejected rows */
  count(done: Done[]): string[] {
    return done.flatMap(({ unit, namesEarlier, saved }) => {
      const { rows } = unit;
      if (saved.outcome === 'refused' && !(namesEarlier && this.willPass(saved.problems))) {
        this.counts.rejected += rows.length;
        for (const { line, field, message } of rowProblems(unit, saved.problems)) {
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
    if (problems.length > 0) return { unit, draft: { outcome: 'refused', problems }, namesEarlier: false };
    const all = unit.rows.map(({ values }) => values);
    const values = gather ? gather(all) : (all[0] ?? {});
    const named = namesEarlier && values[namesEarlier];
    const isEarlier =
      typeof named === 'string' && this.seen.has(this.seenKey(this.kind.keys[0] ?? '', named));
    return { unit, draft: { values }, namesEarlier: isEarlier };
  }

  /** Returns a problem if a unit has no key, or the same key as an earlier unit. Otherwise stores the key. */
  private keyProblems({ key, rows: [first] }: RowUnit): FieldError[] {
    if (!key) {
      return [
        { field: this.kind.keys[0] ?? '', message: 'must not be empty, because it identifies the row' },
      ];
    }
    const before = this.seen.note(this.seenKey(key.field, key.text), first?.row.line ?? 0);
    if (before === undefined) return [];
    const together = this.kind.gather ? ': keep the lines of one record together' : '';
    return [{ field: key.field, message: `is also in line ${before}${together}` }];
  }

  private seenKey(field: string, key: string): string {
    return `${field} ${this.kind.toKey(key)}`;
  }

  /** Returns whether a draft was refused only because the dry run rolled back the earlier row that it refers to. */
  private willPass(problems: FieldError[]): boolean {
    const { dryRun } = this.source.options;
    return dryRun && problems.every(({ field }) => field === this.kind.namesEarlier);
  }

  private theirName(field: string): string | null {
    if (field === '') return null;
    return this.source.header.columns.find(({ ours }) => ours?.name === field)?.theirs ?? field;
  }
}

/** Rows that are written together or not at all. Usually a single row. */
interface RowUnit {
  /** Key field and its normalized value. Null if the first row has no readable key. */
  key: { field: string; text: string } | null;
  rows: ReadRow[];
}

/**
 * Assigns the problems of a unit to its rows, so that each row has at least one problem.
 *
 * @param problems problems of the unit; a problem of a single row has a field such as `lines.0.text`
 * @returns problems with our field names; '' stands for the whole row
 */
function rowProblems({ rows }: RowUnit, problems: FieldError[]) {
  const ofRows = problems.map(({ field, message }) => {
    const [, at = '0', own = field] = OF_LINE.exec(field) ?? [];
    return { at: Number(at), field: own, message };
  });
  const first = rows[Math.min(...ofRows.map(({ at }) => at))]?.row.line;
  return rows.flatMap(({ row: { line }, values, problems: unread }, i) => {
    const own = ofRows.filter(({ at }) => at === i);
    if (own.length === 0) return { line, field: '', message: `is refused together with line ${first}` };
    return own.map(({ field, message }) => {
      const isMissing = unread.length === 0 && field !== '' && values[field] === undefined;
      return { line, field, message: isMissing && message.startsWith('must be') ? 'is needed' : message };
    });
  });
}

const OF_LINE = /^lines\.(\d+)\.(.*)$/;

// SQLSTATE classes that a single row can cause: data (22), constraints (23), concurrent writes (40).
const ROW = /^(22|23|40)/;

/**
 * Writes a batch. If the database refuses the batch, its two halves are written separately. This is repeated until only
 * the rows that cause the error are refused.
 *
 * @param dryRun whether to roll back each batch. Every batch has its own transaction, so that other writers do not wait
 *   long.
 */
export async function saveBatch(
  db: Database,
  kind: ImportKind,
  drafts: Draft[],
  writer: RecordWriter,
  dryRun: boolean,
): Promise<Saved[]> {
  if (drafts.length === 0) return [];
  try {
    const save = (tx: Database) => kind.save(tx, drafts, writer);
    return await (dryRun ? tryOut(save, db) : save(db));
  } catch (error) {
    const code = pgErrorCode(error) ?? '';
    if (isDatabaseUnavailable(error) || !ROW.test(code)) throw error;
    const problems = [{ field: '', message: `is refused by the database (${code})` }];
    if (drafts.length === 1) return [{ outcome: 'refused', problems }];
    const half = Math.ceil(drafts.length / 2);
    const first = await saveBatch(db, kind, drafts.slice(0, half), writer, dryRun);
    return [...first, ...(await saveBatch(db, kind, drafts.slice(half), writer, dryRun))];
  }
}

/** Writes a batch in a transaction, rolls it back, and returns the outcomes that the batch would have had. */
async function tryOut(save: (tx: Database) => Promise<Saved[]>, db: Database): Promise<Saved[]> {
  let saved: Saved[] | undefined;
  const rollBack = new Error('tried out');
  await transact(db, async (tx) => {
    saved = await save(tx);
    throw rollBack;
  }).catch((error: unknown) => {
    if (error !== rollBack) throw error;
  });
  return saved ?? [];
}

/**
 * Maps the keys read so far to their line numbers. A file of a gigabyte has millions of keys, so the map stores 64 bits
 * of a key's hash instead of the key. A slot takes 12 bytes, and at most half of the slots are used.
 */
export class SeenKeys {
  private hashes = new BigUint64Array(1024);
  private lines = new Uint32Array(1024);
  private count = 0;

  /** Adds a key if it is new. @returns the line of the earlier row with the same key; undefined for a new key */
  note(key: string, line: number): number | undefined {
    const hashed = hashOf(key);
    const at = this.placeOf(hashed);
    if (this.lines[at] !== 0) return this.lines[at];
    this.hashes[at] = hashed;
    this.lines[at] = line;
    this.count += 1;
    if (this.count * 2 > this.lines.length) this.grow();
    return undefined;
  }

  has(key: string): boolean {
    return this.lines[this.placeOf(hashOf(key))] !== 0;
  }

  /** Returns the slot of a key, or a free slot for it. Lines are counted from 1, so 0 marks a free slot. */
  private placeOf(hashed: bigint): number {
    const mask = this.lines.length - 1;
    let at = Number(BigInt.asUintN(32, hashed)) & mask;
    while (this.lines[at] !== 0 && this.hashes[at] !== hashed) at = (at + 1) & mask;
    return at;
  }

  private grow(): void {
    const { hashes, lines } = this;
    this.hashes = new BigUint64Array(lines.length * 2);
    this.lines = new Uint32Array(lines.length * 2);
    for (const [i, hashed] of hashes.entries()) {
      if (lines[i] === 0) continue;
      const at = this.placeOf(hashed);
      this.hashes[at] = hashed;
      this.lines[at] = lines[i] ?? 0;
    }
  }
}

const hashOf = (key: string): bigint => hash('sha1', key, 'buffer').readBigUInt64LE();
