import type { DecimalSeparator } from '../read-amount';
import { comparable } from './columns';
import type { CellValue } from './read-cell';

/** How the files of another program differ from ours. */
export interface FileFormat {
  /** Our names of its columns, by its names in lower case. Other columns are left out. */
  columns: Record<string, string>;
  /** Our columns that follow from several of its columns, which are named in lower case. */
  derived?: Record<string, Derived>;
  /** Translates its values, by our column names. */
  values?: Record<string, (cell: string) => Translated>;
  /** Values that its files do not state, by our column names. */
  constants?: Record<string, string>;
  /** Undoes how it encodes texts in cells. */
  decode?(cell: string): string;
  /** Whether it doubles quotation marks even in cells without quotation marks around them. */
  doublesAllQuotes?: boolean;
}

/** A cell in our words, or the value of one that is read already. */
export type Translated = string | CellValue;

/** One of our cells, made of several of theirs. */
export interface Derived {
  of: readonly string[];
  /** @param cells empty for columns that the file does not have */
  value(cells: string[], separator: DecimalSeparator | undefined): Translated;
}

/** The reports of a program that hold one kind of record. A file is read anew by each, since some keep a state. */
export type Reports = readonly (() => FileFormat)[];

/** The encodings that a file may have, as people name them. */
export const ENCODINGS = ['utf-8', 'windows-1252'] as const;
export type Encoding = (typeof ENCODINGS)[number];

export const ENCODING_NAMES = { 'utf-8': 'UTF-8', 'windows-1252': 'Windows-1252' } as const;

/** How a file is to be read. */
export interface FileOptions {
  /** Their column names and ours; '' leaves a column out. */
  map: Map<string, string>;
  /** One value for all rows, by our column names. */
  constants: Map<string, string>;
  /** Without it, numbers that may mean two things are refused. */
  separator?: DecimalSeparator | undefined;
  /** Without it, the first line decides. */
  delimiter?: string | undefined;
  /** Without it, the bytes decide. */
  encoding?: Encoding | undefined;
  format?: Reports | undefined;
}

/** The report of another program that knows most of the column names. */
export function bestReport(reports: Reports | undefined, names: string[]): FileFormat | undefined {
  const opened = reports?.map((open) => open()) ?? [];
  return opened.toSorted((a, b) => fitOf(b, names) - fitOf(a, names))[0];
}

/** How many of the names a report knows. */
export function fitOf({ columns, derived = {} }: FileFormat, names: string[]): number {
  const used = Object.values(derived).flatMap(({ of }) => of);
  const all = new Set([...Object.keys(columns), ...used].map(comparable));
  return names.filter((name) => all.has(comparable(name))).length;
}
