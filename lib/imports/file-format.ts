/** How the files of some other program differ from ours. */
export interface FileFormat {
  /** Their columns, in lower case, as ours; any other is left out. */
  columns: Record<string, string>;
  /** Ours that follow from several of theirs, which are named in lower case. */
  derived?: Record<string, Derived>;
  /** Their values as ours, by our columns; '' for none. */
  values?: Record<string, (cell: string) => string>;
  /** What their files do not tell, by our columns. */
  constants?: Record<string, string>;
}

/** A cell of ours from some of theirs; of a column that a file does not have, ''. */
export interface Derived {
  of: readonly string[];
  value(...cells: string[]): string;
}

/** What whoever imports a file says of it. */
export interface FileOptions {
  /** Their columns as ours; '' leaves one out. */
  map: Map<string, string>;
  /** One value for all rows, by our columns. */
  constants: Map<string, string>;
  decimalComma: boolean;
  /** Without it the one that the first line has most of. */
  delimiter?: string | undefined;
  format?: FileFormat | undefined;
}
