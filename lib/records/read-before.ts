import { getTableColumns, inArray, or, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Database } from '@/db/database';
import { inTexts } from '@/db/in-texts';
import type { Draft, RecordKind, Row } from './record-kind';

const same = (key: string) => key;

export interface Found {
  /** Null: it is new; undefined: it is gone. */
  before: Row | null | undefined;
  /** Why it cannot have the key that it is to have; undefined: it can. */
  unavailable: string | undefined;
}

/** Locks and reads the records that drafts mean. */
export async function readBefore(tx: Database, kind: RecordKind, drafts: Draft[]) {
  const { id, [kind.key]: key } = columnsOf(kind);
  const toKey = kind.toKey ?? same;
  const ids = drafts.flatMap((draft) => draft.id ?? []);
  const keys = drafts.flatMap(({ values }) => textOf(values[kind.key])).map(toKey);
  const wanted = [
    ids.length > 0 ? inArray(id as PgColumn, ids) : undefined,
    keys.length > 0 ? (kind.hasKey?.(keys) ?? inTexts(key as PgColumn, keys)) : undefined,
  ].filter((condition): condition is SQL => condition !== undefined);
  const found: Row[] =
    wanted.length === 0
      ? []
      : await tx
          .select()
          .from(kind.table)
          .where(or(...wanted))
          .orderBy(kind.table.id)
          .for('update');
  await kind.addParts?.(tx, found);
  const unavailable = keys.length > 0 ? await kind.findUnavailable?.(tx, keys) : undefined;
  const byId = new Map(found.map((row) => [row.id, row]));
  const byKey = new Map(found.map((row) => [toKey(String(row[kind.key])), row]));
  return (draft: Draft): Found => {
    const [text] = textOf(draft.values[kind.key]);
    const wantedKey = text === undefined ? undefined : toKey(text);
    const namesake = (wantedKey !== undefined && byKey.get(wantedKey)) || null;
    const before = draft.isNew ? null : draft.id === undefined ? namesake : byId.get(draft.id);
    const isTaken = namesake !== null && namesake.id !== before?.id;
    return { before, unavailable: isTaken ? 'is taken' : unavailable?.get(wantedKey ?? '') };
  };
}

/** The ids of the records that drafts name, by what they call them. */
export async function findReferences(tx: Database, kind: RecordKind, drafts: Draft[]) {
  const found = new Map<string, Map<string, number>>();
  for (const [name, { find }] of Object.entries(kind.references ?? {})) {
    const keys = [...new Set(drafts.flatMap(({ values }) => textOf(values[name])))];
    found.set(name, keys.length > 0 ? await find(tx, keys) : new Map());
  }
  return (name: string) => found.get(name) ?? new Map<string, number>();
}

const columnsOf = (kind: RecordKind): Record<string, PgColumn> => getTableColumns(kind.table);
const textOf = (value: unknown): string[] => (typeof value === 'string' ? [value] : []);
