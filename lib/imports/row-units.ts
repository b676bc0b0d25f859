import type { FieldError } from '../errors';
import { MAX_LINES } from '../invoices/line-fields';
import type { Row } from '../records/record-kind';
import type { CsvRow } from './csv-rows';
import type { ImportKind } from './import-kind';

/** A row as it is understood; the fields of problems are ours. */
export interface ReadRow {
  row: CsvRow;
  values: Row;
  problems: FieldError[];
}

/** Rows that are written together or not at all: most often one. */
export interface RowUnit {
  /** The key field and its value, if it could be read. */
  key: { field: string; text: string } | null;
  rows: ReadRow[];
}

/** Puts rows together that are written together; those of the last unit may go on in the next batch. */
export class RowUnits {
  private held: RowUnit[] = [];

  constructor(private readonly kind: Pick<ImportKind, 'keys' | 'toKey' | 'gather'>) {}

  /** @param isLast no more rows come @returns the units that are complete */
  add(rows: ReadRow[], isLast: boolean): RowUnit[] {
    const units = this.held;
    for (const row of rows) {
      const key = this.keyOf(row);
      const last = units.at(-1);
      if (last && this.goesOn(last, key)) last.rows.push(row);
      else units.push({ key, rows: [row] });
    }
    this.held = this.kind.gather && !isLast ? units.splice(-1) : [];
    return units;
  }

  /** A row of which the key cannot be read may belong to those before it, so that these wait for it to be mended. */
  private goesOn({ key: before, rows }: RowUnit, key: RowUnit['key']): boolean {
    if (!this.kind.gather || before === null || rows.length > MAX_LINES) return false;
    return key === null || (key.field === before.field && key.text === before.text);
  }

  private keyOf({ values }: ReadRow): RowUnit['key'] {
    const field = this.kind.keys.find((name) => typeof values[name] === 'string');
    return field === undefined ? null : { field, text: this.kind.toKey(String(values[field])) };
  }
}
