import { VisuallyHidden } from '@mantine/core';
import Link from 'next/link';
import type { ReactNode } from 'react';
import classes from './list.module.css';
import { type Entry, NarrowEntry } from './narrow-entry';
import { RowBody } from './row-body';
import { SortBar, SortHeader, type Sorting } from './sort-links';

export interface Column<Row> {
  label: string;
  cell(row: Row): ReactNode;
  /** CSS. Text is cut off in columns without a width or with a title if there is too little room. */
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
  /** What a row's link is called beside its first cell, where that cell does not tell which record it is. */
  nameOf?(row: Row): string;
  columns: Column<Row>[];
  entryOf(row: Row): Entry;
  /** Where the order can be chosen. */
  sorting?: Sorting | undefined;
}

/** Records as a table, on a narrow screen as a list. */
export function RecordList<Row>(props: Props<Row>) {
  const { label, rows, keyOf, hrefOf, columns, entryOf, sorting } = props;
  return (
    <div className={classes.list}>
      <div className={classes.wide}>
        <Table {...props} />
      </div>
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
    </div>
  );
}

function Table<Row>({ label, rows, keyOf, hrefOf, nameOf, columns, sorting }: Props<Row>) {
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
      <RowBody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(({ label: name, cell, align, title, width, wraps }, i) => (
              <td
                key={name}
                data-align={align}
                data-wraps={wraps}
                data-gives={(title !== undefined || !width) && !wraps ? true : undefined}
                title={title?.(row)}
              >
                {i === 0 && hrefOf ? (
                  <Link href={hrefOf(row)} className={classes.cover} prefetch={false} data-row>
                    {nameOf && <VisuallyHidden>{nameOf(row)}, </VisuallyHidden>}
                    {cell(row)}
                  </Link>
                ) : (
                  cell(row)
                )}
              </td>
            ))}
          </tr>
        ))}
      </RowBody>
    </table>
  );
}

function isSortable<C extends { sort?: string }>(column: C): column is C & { sort: string } {
  return column.sort !== undefined;
}
