import type { z } from 'zod';
import type { FieldError } from '../errors';
import type { Draft, RecordKind, RecordWriter, Row } from './record-kind';

type Parsed = { columns: Row } | { problems: FieldError[] };

/**
 * The columns that a draft sets: checked field by field, references looked up.
 *
 * @param before the record as it is; of a new one all that it needs is asked for
 * @param idsOf the ids of the records that a reference finds
 */
export function parseDraft(
  kind: RecordKind,
  { values }: Draft,
  before: Row | null,
  writer: RecordWriter,
  idsOf: (reference: string) => Map<string, number>,
): Parsed {
  const parsed = schemasOf(kind)[before ? 'changes' : 'complete'].safeParse(values);
  if (!parsed.success) return { problems: parsed.error.issues.flatMap(toProblems) };
  const references = kind.references ?? {};
  // Not copied and deleted from: an object that lost a field is slow from then on, and an import has many.
  const columns: Row = {};
  for (const [name, value] of Object.entries(parsed.data)) {
    if (!Object.hasOwn(references, name) || value === undefined) columns[name] = value;
  }
  const problems: FieldError[] = [];
  for (const [name, { column, problem }] of Object.entries(references)) {
    const key = parsed.data[name];
    if (key === undefined) continue;
    const id = key === null ? null : idsOf(name).get(String(key));
    if (id === undefined) problems.push({ field: name, message: problem });
    // Two fields may name one record, each in its own way: the one that is empty says nothing then.
    else columns[column] ??= id;
  }
  return problems.length > 0
    ? { problems }
    : { columns: kind.toColumns?.(columns, before, writer) ?? columns };
}

interface Schemas {
  complete: z.ZodObject;
  changes: z.ZodObject;
}

// A schema is compiled at its first use, which takes longer than to use it.
const schemas = new WeakMap<RecordKind, Schemas>();

function schemasOf(kind: RecordKind): Schemas {
  const known = schemas.get(kind);
  if (known) return known;
  const made = { complete: kind.fields.strict(), changes: kind.fields.partial().strict() };
  schemas.set(kind, made);
  return made;
}

function toProblems(issue: {
  code?: string;
  path: PropertyKey[];
  message: string;
  keys?: unknown;
}): FieldError[] {
  const { path, message, keys } = issue;
  if (!Array.isArray(keys)) return [{ field: path.join('.'), message }];
  return keys.map((key) => ({ field: String(key), message: 'is not a field' }));
}
