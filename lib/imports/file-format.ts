import type { DecimalSeparator } from '../read-amount';
import { comparable } from './columns';
import type { CellValue } from './read-cell';

/** File format of another program, described by its differences from ours. */
export interface FileFormat {
  /** Our column names, keyed by the program's column names in lower case. Other columns are left out. */
  columns: Record<string, string>;
  /** Our columns that are computed from several of the program's columns, whose names are in lower case. */
  derived?: Record<string, Derived>;
  /** Functions that translate the program's values, by our column names. */
  values?: Record<string, (cell: string) => Translated>;
  /** Values that are the same for all rows and missing in the files, by our column names. */
  constants?: Record<string, string>;
  /** Unescapes the text of a cell if the program escapes it, such as `&amp;` for `&`. */
  decode?(cell: string): string;
  /** Whether the program doubles quotation marks even in unquoted cells. */
  doublesAllQuotes?: boolean;
}

/** Translated text of a cell, or its already parsed value. */
export type Translated = string | CellValue;

/** One of our columns, which is computed from several columns of the file. */
export interface Derived {
  of: readonly string[];
  /** Computes the cell. @param cells texts of the columns; '' for a column that the file does not have */
  value(cells: string[], separator: DecimalSeparator | undefined): Translated;
}

/** A program's reports for one kind of record. Each file gets new instances, since some formats have a state. */
export type Reports = readonly (() => FileFormat)[];

/** Supported encodings, by their usual names. */
export const ENCODINGS = ['utf-8', 'windows-1252'] as const;
export type Encoding = (typeof ENCODINGS)[number];

export const ENCODING_NAMES = { 'utf-8': 'UTF-8', 'windows-1252': 'Windows-1252' } as const;

/** Options for reading a file. */
export interface FileOptions {
  /** Our column names by the file's column names. '' leaves a column out. */
  map: Map<string, string>;
  /** Values for all rows, by our column names. */
  constants: Map<string, string>;
  /** Decimal separator. If absent, ambiguous numbers are refused. */
  separator?: DecimalSeparator | undefined;
  /** Delimiter. If absent, it is detected from the first line. */
  delimiter?: string | undefined;
  /** Encoding. If absent, it is detected from the bytes. */
  encoding?: Encoding | undefined;
  format?: Reports | undefined;
}

/** Returns the report that knows the most of the column names. */
export function bestReport(reports: Reports | undefined, names: string[]): FileFormat | undefined {
  const opened = reports?.map((open) => open()) ?? [];
  return opened.toSorted((a, b) => fitOf(b, names) - fitOf(a, names))[0];
}

/** Counts the column names that a report knows. */
export function fitOf({ columns, derived = {} }: FileFormat, names: string[]): number {
  const used = Object.values(derived).flatMap(({ of }) => of);
  const all = new Set([...Object.keys(columns), ...used].map(comparable));
  return names.filter((name) => all.has(comparable(name))).length;
}
