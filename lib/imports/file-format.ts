import type { DecimalSeparator } from '../read-amount';
import type { CellValue } from './read-cell';
import type { Encoding } from './text-file';

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
