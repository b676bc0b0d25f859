import Link from 'next/link';
import type { ReactNode } from 'react';
import classes from './list.module.css';
import { type Entry, NarrowEntry } from './narrow-entry';
import { SortBar, SortHeader, type Sorting } from './sort-links';

export interface Column<Row> {
  label: string;
  cell(row: Row): ReactNode;
  /** CSS; what has none shares the rest. */
  width?: string;
  align?: 'right';
  /** What is cut off, on hover. */
  title?(row: Row): string | undefined;
  /** Its name in the address of a list that can be sorted by it. */
  sort?: string;
  /** The first click shows the last or largest first. */
  descends?: boolean;
  /** Several lines, where one would be cut off. */
  wraps?: boolean;
}

interface Props<Row> {
  /** What the list is called, for readers. */
  label: string;
  rows: Row[];
  keyOf(row: Row): string | number;
  /** The page of a record; without, the rows lead nowhere. */
  hrefOf?(row: Row): string;
  columns: Column<Row>[];
  entryOf(row: Row): Entry;
  /** Where the order can be chosen. */
  sorting?: Sorting | undefined;
}

/** Records as a table, on a narrow screen as a list. */
export function RecordList<Row>(props: Props<Row>) {
  const { label, rows, keyOf, hrefOf, columns, entryOf, sorting } = props;
  return (
    <>
      <Table {...props} />
      <div className={classes.narrow}>
        {sorting && <SortBar sorting={sorting} columns={columns.filter(isSortable)} />}
        <ul className={classes.entries} aria-label={label}>
          {rows.map((row) => (
            <li key={keyOf(row)}>
              <NarrowEntry entry={entryOf(row)} href={hrefOf?.(row)} />
            </li>
          ))}
        </ul>
      </div>
    </>
  );
}

function Table<Row>({ label, rows, keyOf, hrefOf, columns, sorting }: Props<Row>) {
  return (
    <table className={classes.table} aria-label={label} data-links={hrefOf !== undefined}>
      <thead>
        <tr>
          {columns.map(({ width, ...column }) => (
            <SortHeader
              key={column.label}
              column={column}
              width={width}
              sorting={isSortable(column) ? sorting : undefined}
            />
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(({ label: name, cell, align, title, wraps }, i) => (
              <td key={name} data-align={align} data-wraps={wraps} title={title?.(row)}>
                {i === 0 && hrefOf ? (
                  <Link href={hrefOf(row)} className={classes.cover} prefetch={false}>
                    {cell(row)}
                  </Link>
                ) : (
                  cell(row)
                )}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function isSortable<C extends { sort?: string }>(column: C): column is C & { sort: string } {
  return column.sort !== undefined;
}
