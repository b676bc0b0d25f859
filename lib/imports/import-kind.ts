import type { z } from 'zod';
import type { Database } from '@/db/database';
import type { Draft, RecordKind, RecordWriter, Row, Saved } from '../records/record-kind';
import { saveRecords } from '../records/save-records';

/** What files can be imported of. */
export interface ImportKind {
  fields: z.ZodObject;
  /** The fields by which a row is known again; each row needs one of them. */
  keys: string[];
  /** Two keys mean the same record where this makes them equal. */
  toKey(key: string): string;
  /** Rows of one key that stand one after another are written together, as one draft; without it each row is one. */
  gather?(rows: Row[]): Row;
  /** The field that may name another row of the same file: one that stands before it. */
  namesEarlier?: string;
  /**
   * Writes what may be written. A problem with one of several rows names it: `lines.0.text`.
   *
   * @returns what became of each draft, in their order
   */
  save(db: Database, drafts: Draft[], writer: RecordWriter): Promise<Saved[]>;
}

/**
 * Saves the drafts that may be saved.
 *
 * @param judged a draft, or why there is none
 * @returns what became of each, in their order
 */
export async function saveGood(
  judged: (Draft | Refused)[],
  save: (drafts: Draft[]) => Promise<Saved[]>,
): Promise<Saved[]> {
  const saved = (await save(judged.filter((one) => 'values' in one))).values();
  return judged.map((one) => {
    if (!('values' in one)) return one;
    const { value } = saved.next();
    if (!value) throw new Error('a row was lost');
    return value;
  });
}

/** A draft that must not be written, and why. */
export type Refused = Saved & { outcome: 'refused' };

/** @param keys by which rows are known again, where it is not the record's own alone */
export function ofRecords(kind: RecordKind, keys = [kind.key]): ImportKind {
  return {
    fields: kind.fields,
    keys,
    toKey: kind.toKey ?? ((key) => key),
    save: (db, drafts, writer) => saveRecords(db, kind, drafts, writer),
  };
}
