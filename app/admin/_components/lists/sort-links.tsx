import { IconArrowDown, IconArrowUp, IconSelector } from '@tabler/icons-react';
import Link from 'next/link';
import classes from './list.module.css';

/** How a list is sorted: a column's name, with a minus where the last comes first. */
export interface Sorting {
  sort: string;
  /** A column that it cannot be sorted by, as it is narrowed. */
  lacks?: string | undefined;
  /** The address of the list in another order. */
  to(sort: string): string;
}

interface Header {
  label: string;
  sort?: string;
  /** The first click shows the last or largest first. */
  descends?: boolean;
  align?: 'right';
}

type Sortable = Header & { sort: string };

interface HeaderProps {
  column: Header;
  width: string | undefined;
  sorting: Sorting | undefined;
}

/** A column's header that sorts by it, and by itself once more the other way round. */
export function SortHeader({ column, width, sorting }: HeaderProps) {
  const { sort, label, align } = column;
  if (!sorting || sort === undefined || sort === sorting.lacks) {
    return (
      <th scope="col" style={{ width }} data-align={align}>
        {label}
      </th>
    );
  }
  const sortable = { ...column, sort };
  return (
    <th
      scope="col"
      style={{ width }}
      data-align={align}
      aria-sort={directionOf(sortable, sorting) ?? undefined}
    >
      <SortLink column={sortable} sorting={sorting} />
    </th>
  );
}

/** The same for a list without headers. */
export function SortBar({ sorting, columns }: { sorting: Sorting; columns: Sortable[] }) {
  return (
    <nav aria-label="Sort by" className={classes.sortBar}>
      <span>Sort by</span>
      {columns
        .filter(({ sort }) => sort !== sorting.lacks)
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
      prefetch={false}
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
