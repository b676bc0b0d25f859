import type { z } from 'zod';
import type { Database } from '@/db/database';
import type { Draft, RecordKind, RecordWriter, Row, Saved } from '../records/record-kind';
import { saveRecords } from '../records/save-records';

/** Kind of record that can be imported from files. */
export interface ImportKind {
  fields: z.ZodObject;
  /** Fields that identify a row's record. Each row needs one of them. */
  keys: string[];
  /** Normalizes a key. Keys with the same result refer to the same record. */
  toKey(key: string): string;
  /** Combines consecutive rows with the same key into one draft. If absent, each row is a draft of its own. */
  gather?(rows: Row[]): Row;
  /** Field that may refer to an earlier row of the same file. */
  namesEarlier?: string;
  /**
   * Writes the valid drafts. The field of a problem in a combined row contains its position: `lines.0.text`.
   *
   * @returns the outcome of each draft, in the order of the drafts
   */
  save(db: Database, drafts: Draft[], writer: RecordWriter): Promise<Saved[]>;
}

/**
 * Saves the drafts that are valid, and returns the outcomes of all in their order.
 *
 * @param judged a draft, or the reason why it is refused
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

/** Makes an import kind of a kind of record. @param keys identify a row's record; by default its own key alone */
export function ofRecords(kind: RecordKind, keys = [kind.key]): ImportKind {
  return {
    fields: kind.fields,
    keys,
    toKey: kind.toKey ?? ((key) => key),
    save: (db, drafts, writer) => saveRecords(db, kind, drafts, writer),
  };
}
