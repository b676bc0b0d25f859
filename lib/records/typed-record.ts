import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { AppError } from '../errors';
import { MAX_ID } from '../page';
import { ambiguityProblem } from '../typed-amount';
import { NO_NUMBER } from './fields';
import type { RecordWriter, Row } from './record-kind';
import { saveRecord } from './save-records';
import { type Typed, type TypedKind, toTyped, toValues } from './typed-fields';

/** A record as a form shows it, and its version, which tells whether it has changed since. */
export interface TypedRecord {
  version: number;
  typed: Typed;
}

/** A record for its form. @throws AppError not_found */
export async function readTyped(db: Database, typedKind: TypedKind, id: number): Promise<TypedRecord> {
  const { kind } = typedKind;
  const [row]: Row[] = await db
    .select()
    .from(kind.table)
    .where(eq(kind.table.id, Math.min(id, MAX_ID)));
  if (!row) throw new AppError('not_found', `There is no ${kind.name} ${id}.`);
  await kind.addParts?.(db, [row]);
  const names: Row = {};
  for (const [name, { column, nameOf }] of Object.entries(kind.references ?? {})) {
    const referred = row[column];
    names[name] = typeof referred === 'number' ? await nameOf?.(db, referred) : null;
  }
  return { version: Number(row.version), typed: toTyped(typedKind, { ...row, ...names }) };
}

/**
 * Writes a typed record.
 *
 * @param opened the record, and its version when its form was opened; null for a new one
 * @throws AppError validation_failed with its problems, each under the name of its field; not_found; precondition_failed
 *   if it has changed since
 */
export async function saveTyped(
  db: Database,
  typedKind: TypedKind,
  opened: { id: number; version: number } | null,
  typed: Typed,
  writer: RecordWriter,
): Promise<{ id: number }> {
  const isNew = opened === null;
  const draft = { ...opened, isNew, values: toValues(typedKind, typed, isNew) };
  try {
    return await saveRecord(db, typedKind.kind, draft, writer);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const fields = error.fields.map(({ field, message }) => ({
      field: nameOf(field, typedKind),
      message: (message === NO_NUMBER && ambiguityProblem(typed[field] ?? '')) || message,
    }));
    throw new AppError(error.code, error.message, fields);
  }
}

/** The field that a problem stands at: of one address the whole list, of no lines at all the first one. */
function nameOf(field: string, { fields }: TypedKind): string {
  const [list = ''] = field.split('.');
  if (fields[list] === 'list') return list;
  return field === 'lines' ? 'lines.0.text' : field;
}
