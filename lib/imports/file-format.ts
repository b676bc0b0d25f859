import type { DecimalSeparator } from '../read-amount';
import { comparable } from './columns';
import type { CellValue } from './read-cell';

/** File format of another program, described by its differences from our format. */
export interface FileFormat {
  /** Our column names, keyed by the program's column names in lower case. Other columns of the program are ignored. */
  columns: Record<string, string>;
  /** Columns that are computed from one or more of the program's columns, keyed by our column names. */
  derived?: Record<string, Derived>;
  /** Functions that translate the program's values, keyed by our column names. */
  values?: Record<string, (cell: string) => Translated>;
  /** Values for all rows, keyed by our column names, because the program's files do not contain these columns. */
  constants?: Record<string, string>;
  /** Unescapes the text of a cell if the program escapes it, such as `&amp;` for `&`. */
  decode?(cell: string): string;
  /** Whether the program doubles quotation marks even in unquoted cells. */
  doublesAllQuotes?: boolean;
}

/** Translated text of a cell, which is then parsed like any other cell, or the parsed value of the cell. */
export type Translated = string | CellValue;

/** Rule that computes one of our columns from one or more columns of a file. */
export interface Derived {
  /** Names of the file's columns, in lower case. */
  sources: readonly string[];
  /** Computes the cell. @param cells texts in the order of `sources`; '' for a column that the file does not have */
  value(cells: string[], separator: DecimalSeparator | undefined): Translated;
}

/**
 * The report formats of a program for one kind of record. A format is created for each file, because it may keep state.
 */
export type Reports = readonly (() => FileFormat)[];

/** Supported encodings, by their standard names. */
export const ENCODINGS = ['utf-8', 'windows-1252'] as const;
export type Encoding = (typeof ENCODINGS)[number];

export const ENCODING_NAMES = { 'utf-8': 'UTF-8', 'windows-1252': 'Windows-1252' } as const;

export interface FileOptions {
  /** Our column names, keyed by the file's column names. '' leaves a column out. */
  map: Map<string, string>;
  /** Values that apply to all rows, keyed by our column names. */
  constants: Map<string, string>;
  /** Decimal separator. If absent, ambiguous numbers are refused. */
  separator?: DecimalSeparator | undefined;
  /** Delimiter. If absent, a `sep=` line sets it, or it is detected from the header. */
  delimiter?: string | undefined;
  /** Encoding. If absent, it is detected from the file's bytes. */
  encoding?: Encoding | undefined;
  format?: Reports | undefined;
}

/** Returns the format that uses the most of a file's column names. Returns undefined if there are no reports. */
export function bestReport(reports: Reports | undefined, names: string[]): FileFormat | undefined {
  const opened = reports?.map((open) => open()) ?? [];
  return opened.toSorted((a, b) => fitOf(b, names) - fitOf(a, names))[0];
}

/** Counts the column names that a format uses, directly or to compute a column. */
export function fitOf({ columns, derived = {} }: FileFormat, names: string[]): number {
  const used = Object.values(derived).flatMap(({ sources }) => sources);
  const all = new Set([...Object.keys(columns), ...used].map(comparable));
  return names.filter((name) => all.has(comparable(name))).length;
}
