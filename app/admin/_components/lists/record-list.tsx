import { VisuallyHidden } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconSelector } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from '@/app/_components/links';
import classes from './list.module.css';
import { RowBody } from './row-body';

export interface Column<Row> {
  label: string;
  cell(row: Row): ReactNode;
  /** CSS width. A column without a width or with a `title` cuts off long text, unless it `wraps`. */
  width?: string;
  align?: 'right';
  /** Returns the text to show on hover. True shows the cell's own text on hover, and a dash in an empty cell. */
  title?: true | ((row: Row) => string | undefined);
  /** Name of the sort order in the URL. Absent if the list cannot be sorted by this column. */
  sort?: string;
  /** Whether the first click sorts in descending order. */
  descends?: boolean;
  /** Label and sort order of the cells' second line, if the list can be sorted by that line. */
  below?: { label: string; sort: string; descends?: boolean };
  /** Whether long text wraps instead of being cut off. */
  wraps?: boolean;
}

interface Props<Row extends { id: string | number }> {
  /** Name of the list for screen readers. */
  label: string;
  rows: Row[];
  /** Returns the React key of a row. Defaults to the row's id. Required if the ids are not unique. */
  keyOf?(row: Row): string | number;
  /** Returns the URL of a record's page. If absent, rows are not links. */
  hrefOf?(row: Row): string;
  /** Returns text that screen readers read before the first cell. Needed if that cell does not identify the record. */
  nameOf?(row: Row): string;
  columns: Column<Row>[];
  /** Returns a record's entry in the list on a narrow screen. */
  entryOf(row: Row): Entry;
  /** The current sort order. Absent if people cannot choose the order. */
  sorting?: Sorting | undefined;
  /**
   * Whether the columns need more than 800 px. The table then replaces the narrow list only from 960 px on, with less
   * space between the columns.
   */
  isDense?: boolean;
}

/** Props of a component that lists one kind of record, such as `InvoiceList`. */
export interface RecordRows<Row> {
  rows: Row[];
  /** Whether all rows belong to one customer. The list then omits the customer. */
  isOwn?: boolean;
  /** The current sort order. Absent if people cannot choose the order. */
  sorting?: Sorting | undefined;
}

/** Shows records as a table, or as a list on a narrow screen. */
export function RecordList<Row extends { id: string | number }>(props: Props<Row>) {
  const { label, rows, keyOf = idOf, hrefOf, columns, entryOf, sorting, isDense } = props;
  const sortable = columns.flatMap((column) => [column, ...(column.below ? [column.below] : [])]);
  return (
    <div className={classes.list} data-dense={isDense}>
      <div className={classes.wide}>
        <Table {...props} />
      </div>
      <div className={classes.narrow}>
        {sorting && <SortBar sorting={sorting} columns={sortable.filter(isSortable)} />}
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

const idOf = ({ id }: { id: string | number }) => id;

function Table<Row extends { id: string | number }>(props: Props<Row>) {
  const { label, rows, keyOf = idOf, hrefOf, nameOf, columns, sorting } = props;
  return (
    <table className={classes.table} aria-label={label} data-links={hrefOf !== undefined}>
      <thead>
        <tr>
          {columns.map(({ width, ...column }) => (
            <SortHeader key={column.label} column={column} width={width} sorting={sorting} />
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
                title={title === true ? toText(cell(row)) : title?.(row)}
              >
                {i === 0 && hrefOf ? (
                  <Link href={hrefOf(row)} className={classes.cover} data-row>
                    {nameOf && <VisuallyHidden>{nameOf(row)}, </VisuallyHidden>}
                    {cell(row)}
                  </Link>
                ) : (
                  (cell(row) ?? (title === true ? '–' : null))
                )}
              </td>
            ))}
          </tr>
        ))}
      </RowBody>
    </table>
  );
}

const toText = (cell: ReactNode) => (typeof cell === 'string' ? cell : undefined);

function isSortable<C extends { sort?: string }>(column: C): column is C & { sort: string } {
  return column.sort !== undefined;
}

/** A record's entry on a narrow screen, with up to two lines of text and two values at the right edge. */
interface Entry {
  title: ReactNode;
  detail?: ReactNode;
  figure?: ReactNode;
  state?: ReactNode;
}

/** Shows an entry of the narrow list. If `href` is given, the entry is a link to the record's page. */
function NarrowEntry({ entry, href }: { entry: Entry; href: string | undefined }) {
  const { title, detail, figure, state } = entry;
  const content = (
    <>
      <span className={classes.lines}>
        <span className={classes.entryTitle}>{title}</span>
        {detail && <span className={classes.detail}>{detail}</span>}
      </span>
      <span className={classes.corners}>
        {figure && <span className={classes.figure}>{figure}</span>}
        {state}
      </span>
    </>
  );
  if (href === undefined) return <div className={classes.card}>{content}</div>;
  return (
    <Link href={href} className={classes.card}>
      {content}
    </Link>
  );
}

/** The sort order of a list. */
export interface Sorting {
  /** A column's `sort` name, with a leading minus for descending order. */
  sort: string;
  /** Sort orders that are not available with the current filters. */
  lacks?: string[] | undefined;
  /** Returns the URL of the list in another sort order. */
  to(sort: string): string;
}

type Header = Pick<Column<never>, 'label' | 'sort' | 'descends' | 'align' | 'below'>;
type Sortable = Header & { sort: string };

interface HeaderProps {
  column: Header;
  width: string | undefined;
  sorting: Sorting | undefined;
}

/** Shows a column's header. For a sortable column, a click sorts the list, and a second click reverses the order. */
function SortHeader({ column, width, sorting }: HeaderProps) {
  const lines: Header[] = column.below ? [column, column.below] : [column];
  const sorted = sorting && lines.filter(isSortable).find((one) => directionOf(one, sorting));
  return (
    <th
      scope="col"
      style={{ width }}
      data-align={column.align}
      aria-sort={(sorted && directionOf(sorted, sorting)) || undefined}
    >
      {lines.map((one) => (
        <div key={one.label}>
          {sorting && isSortable(one) && !sorting.lacks?.includes(one.sort) ? (
            <SortLink column={one} sorting={sorting} />
          ) : (
            one.label
          )}
        </div>
      ))}
    </th>
  );
}

/** Shows the links that sort the narrow list, which has no column headers. */
function SortBar({ sorting, columns }: { sorting: Sorting; columns: Sortable[] }) {
  return (
    <nav aria-label="Sort by" className={classes.sortBar}>
      <span>Sort by</span>
      {columns
        .filter(({ sort }) => !sorting.lacks?.includes(sort))
        .map((column) => (
          <SortLink key={column.sort} column={column} sorting={sorting} />
        ))}
    </nav>
  );
}

function SortLink({ column, sorting }: { column: Sortable; sorting: Sorting }) {
  const direction = directionOf(column, sorting);
  const descend = direction ? direction === 'ascending' : column.descends;
  const Icon = direction ? ARROWS[direction] : IconSelector;
  return (
    <Link
      href={sorting.to(descend ? `-${column.sort}` : column.sort)}
      className={classes.sort}
      data-current={direction !== null}
      aria-label={direction ? `${column.label}, sorted ${direction}` : undefined}
    >
      {column.label}
      <Icon size={13} stroke={direction ? 2 : 1.6} aria-hidden />
    </Link>
  );
}

const ARROWS = { ascending: IconArrowUp, descending: IconArrowDown };

function directionOf({ sort }: Sortable, sorting: Sorting): 'ascending' | 'descending' | null {
  if (sorting.sort === sort) return 'ascending';
  return sorting.sort === `-${sort}` ? 'descending' : null;
}
