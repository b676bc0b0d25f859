import type { z } from 'zod';
import type { Database } from '@/db/database';
import type { Draft, RecordKind, RecordWriter, Row, Saved } from '../records/record-kind';
import { saveRecords } from '../records/save-records';

/** Kind of record that can be imported from files. */
export interface ImportKind {
  fields: z.ZodObject;
  /** Fields that can identify a row's record. Each row needs at least one of them. */
  keys: string[];
  /** Normalizes a key. Keys with the same result refer to the same record. */
  toKey(key: string): string;
  /** Combines consecutive rows with the same key into the values of one draft. If absent, each row becomes a draft. */
  gather?(rows: Row[]): Row;
  /** Field that may refer to an earlier row of the same file. */
  namesEarlier?: string;
  /**
   * Writes the valid drafts. If `gather` combined rows, the field of a problem contains the row's index:
   * `lines.0.text`.
   *
   * @returns the outcome of each draft, in the order of the drafts
   */
  save(db: Database, drafts: Draft[], writer: RecordWriter): Promise<Saved[]>;
}

/**
 * Saves the drafts that were not refused.
 *
 * @param judged drafts to save, and refusals
 * @returns one outcome for each entry of `judged`, in the same order
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

/** Outcome of a draft that was not written, with the problems. */
export type Refused = Saved & { outcome: 'refused' };

/** Creates the import kind for a kind of record. @param keys fields that can identify a record; default `kind.key` */
export function ofRecords(kind: RecordKind, keys = [kind.key]): ImportKind {
  return {
    fields: kind.fields,
    keys,
    toKey: kind.toKey ?? ((key) => key),
    save: (db, drafts, writer) => saveRecords(db, kind, drafts, writer),
  };
}
