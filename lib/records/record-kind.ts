import type { SQL } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { z } from 'zod';
import type { Database } from '@/db/database';
import { type Actor, staffActor } from '../audit/audit-log';
import type { FieldError } from '../errors';

/** Who is writing, and when. */
export interface RecordWriter {
  actor: Actor;
  now: Date;
  /**
   * Returns the current time. Accounting books the write on the day of this time and not of `now`, because the write
   * may wait for a lock until after midnight. Defaults to `now`.
   */
  clock?(): Date;
  /** Time zone in which a time is converted to a calendar date. */
  timeZone: string;
  /**
   * Id of the import that writes. Null in its dry run, and absent outside imports. New records of an import get no audit
   * entries, because the import has its own.
   */
  importId?: number | null;
}

/** Who saves settings, and a check that the stored settings are still those that the writer has seen. */
export interface SettingsWriter<Settings> {
  actor: Actor;
  /** Returns whether the writer has seen these settings. If absent, the save does not check for conflicts. */
  precondition?(current: Settings): boolean;
}

/** The requested values of a record, keyed by JSON field name. */
export interface Draft {
  /** Id of the record to change. If absent, changes the record with the same key, or creates a new one. */
  id?: number | undefined;
  /** The version that the writer last read. If absent, the write does not check for conflicts. */
  version?: number | undefined;
  /** Whether to refuse the draft if a record with the same key exists. */
  isNew?: boolean | undefined;
  /** Omitted fields stay as they are. A new record gets their defaults. */
  values: Record<string, unknown>;
}

export type Saved =
  | { outcome: 'created' | 'changed' | 'unchanged'; id: number }
  /** A problem that concerns the whole record has an empty `field`. */
  | { outcome: 'refused'; problems: FieldError[] }
  /** The record has changed since the writer last read it. */
  | { outcome: 'outdated'; id: number };

/** Row of a table, keyed by column name. */
export type Row = Record<string, unknown>;

/**
 * Field that refers to a record of another table by its public key. For example, `customer_number` sets `customer_id`.
 */
export interface Reference {
  column: string;
  /** Error message if no record has the key. */
  problem: string;
  /** Finds the ids of the records with these keys. Unknown keys are left out. */
  find(tx: Database, keys: string[]): Promise<Map<string, number>>;
  /** Returns the public key of a record, for a form. */
  nameOf?(db: Database, id: number): Promise<string | null>;
}

/** A row that is about to be written. */
export interface Writing {
  before: Row | null;
  /** The complete new row, except columns that the database sets. */
  after: Row;
  /** The changed columns. For a new row, all columns that are set. */
  changes: Row;
  values: Record<string, unknown>;
}

/** A kind of record: its table, its fields and the rules for writing it. */
export interface RecordKind {
  /** Name of the entity in the audit log. */
  name: 'customer' | 'server' | 'service' | 'invoice' | 'sales_document';
  table: PgTable & Record<'id' | 'updated_at', PgColumn>;
  /** Field with the public key of a record, such as `customer_number`. */
  key: string;
  /** Normalizes a key. Keys with the same result refer to the same record. If absent, keys are not normalized. */
  toKey?(key: string): string;
  /** Returns a condition for rows that have one of the normalized keys. If absent, the key's column is compared. */
  hasKey?(keys: string[]): SQL;
  /** Returns an error message for each of the normalized keys that no record may have, keyed by the key. */
  findUnavailable?(tx: Database, keys: string[]): Promise<Map<string, string>>;
  /** Schema of all writable fields of a complete record. */
  fields: z.ZodObject;
  references?: Record<string, Reference>;
  /** Converts JSON values to columns, and computes columns that depend on others. */
  toColumns?(values: Row, before: Row | null, writer: RecordWriter): Row;
  /** Returns the problems that prevent the write. */
  check?(writing: Writing, writer: RecordWriter): FieldError[];
  /** Returns why a record cannot be deleted, or null. If absent, only references from other records prevent it. */
  checkDelete?(row: Row): string | null;
  /** Adds ids to drafts that match an existing record by a field other than the key. */
  identify?(tx: Database, drafts: Draft[]): Promise<Draft[]>;
  /** Adds data of other tables, such as invoice lines, to rows. It is then compared and audited like columns. */
  addParts?(tx: Database, rows: Row[]): Promise<void>;
  /** Returns the next free key, for a record that is saved without a key. */
  nextKey?(tx: Database, row: Row, writer: RecordWriter): Promise<string>;
  /** Returns whether a record gets its key only later. For example, a draft invoice has no number. */
  isKeyless?(row: Row): boolean;
  /** Called after the rows were written, in the same transaction. */
  afterwards?(tx: Database, written: (Writing & { id: number })[], writer: RecordWriter): Promise<void>;
}

export function staffRecordWriter(
  { now, env }: { now(): Date; env: { timeZone: string } },
  staff: { id: string; email: string },
): RecordWriter {
  return { actor: staffActor(staff), now: now(), clock: now, timeZone: env.timeZone };
}
