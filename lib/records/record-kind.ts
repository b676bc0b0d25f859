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
  /** Calendar dates are counted in it. */
  timeZone: string;
  /** Null: each record leaves an audit entry; else new ones are told by this import alone. */
  importId?: number | null;
}

/** The requested values of a record, keyed by JSON field name. */
export interface Draft {
  /** The record that is meant; without it the one of the same key, or a new one. */
  id?: number | undefined;
  /** The version that the writer last read. If absent, the write does not check for conflicts. */
  version?: number | undefined;
  /** Refused if a record with the same key exists. */
  isNew?: boolean | undefined;
  /** Omitted fields stay as they are. A new record gets their defaults. */
  values: Record<string, unknown>;
}

export type Saved =
  | { outcome: 'created' | 'changed' | 'unchanged'; id: number }
  /** `field` of a problem is empty where the whole is meant. */
  | { outcome: 'refused'; problems: FieldError[] }
  /** The record has changed since the writer read it. */
  | { outcome: 'outdated'; id: number };

/** A row of a table, by the names of its columns. */
export type Row = Record<string, unknown>;

/** A field that names a record of another table by what people call it, `customer_number` for `customer_id`. */
export interface Reference {
  column: string;
  /** What it is not, as a sentence. */
  problem: string;
  /** The ids of those that exist. */
  find(tx: Database, keys: string[]): Promise<Map<string, number>>;
  /** What people call the one of this id, for a form. */
  nameOf?(db: Database, id: number): Promise<string | null>;
}

/** A row that is about to be written. */
export interface Writing {
  before: Row | null;
  /** All of the row as it will be, but for what the database fills in. */
  after: Row;
  /** The columns that differ; of a new row all that it has. */
  changes: Row;
  values: Record<string, unknown>;
}

/** What people keep records of: which fields they have, and the rules of writing one. */
export interface RecordKind {
  /** As the audit log says: `customer`. */
  name: 'customer' | 'server' | 'service' | 'invoice' | 'sales_document';
  table: PgTable & { id: PgColumn };
  /** The field by which people know a record. */
  key: string;
  /** Two keys mean the same record where this makes them equal; without it where they are. */
  toKey?(key: string): string;
  /** Of the rows with one of these keys; without it those whose column equals one. */
  hasKey?(keys: string[]): SQL;
  /** Of these keys those that no record can have, as `toKey` makes them, and why. */
  findUnavailable?(tx: Database, keys: string[]): Promise<Map<string, string>>;
  /** Of every field that may be written, of a complete record. */
  fields: z.ZodObject;
  references?: Record<string, Reference>;
  /** Columns that follow from others, or are written differently from their JSON values. */
  toColumns?(values: Row, before: Row | null, writer: RecordWriter): Row;
  /** What speaks against writing it. */
  check?(writing: Writing): FieldError[];
  /** What speaks against deleting it; without it nothing but other records that refer to it. */
  checkDelete?(row: Row): string | null;
  /** Drafts that are known by more than their key, with the ids of the records that they mean. */
  identify?(tx: Database, drafts: Draft[]): Promise<Draft[]>;
  /** Reads into rows what belongs to them beyond their columns, such as lines, to be compared and audited too. */
  addParts?(tx: Database, rows: Row[]): Promise<void>;
  /** The key of a record that has none. */
  nextKey?(tx: Database, row: Row, writer: RecordWriter): Promise<string>;
  /** Whether a record without a key takes none yet. */
  isKeyless?(row: Row): boolean;
  /** What else is to be done in the same transaction. */
  afterwards?(tx: Database, written: (Writing & { id: number })[], writer: RecordWriter): Promise<void>;
}

/** A record written by a member of staff. */
export function staffRecordWriter(
  { now, env }: { now(): Date; env: { timeZone: string } },
  staff: { id: string; email: string },
): RecordWriter {
  return { actor: staffActor(staff), now: now(), timeZone: env.timeZone };
}
