import { Group, TableTh, Text } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconSelector } from '@tabler/icons-react';
import Link from 'next/link';
import classes from './list.module.css';

/** How a list is sorted: a column's name, with a minus where the last comes first. */
export interface Sorting {
  sort: string;
  /** The address of the list in another order. */
  to(sort: string): string;
}

interface Column {
  name: string;
  label: string;
  /** The first click shows the last or largest first. */
  descends?: boolean;
}

interface HeaderProps extends Column {
  sorting: Sorting | undefined;
  w?: string;
  ta?: 'right';
}

/** A column's header that sorts by it, and by itself once more the other way round. */
export function SortHeader({ sorting, w, ta, ...column }: HeaderProps) {
  const direction = sorting && directionOf(column, sorting);
  return (
    <TableTh {...(w && { w })} {...(ta && { ta })} {...(direction && { 'aria-sort': direction })}>
      {sorting ? <SortLink column={column} sorting={sorting} /> : column.label}
    </TableTh>
  );
}

/** The same for a list without headers. */
export function SortBar({ sorting, columns }: { sorting: Sorting; columns: Column[] }) {
  return (
    <Group component="nav" aria-label="Sort by" className={classes.sortBar ?? ''} gap="md">
      <Text size="xs" c="dimmed">
        Sort by
      </Text>
      {columns.map((column) => (
        <SortLink key={column.name} column={column} sorting={sorting} />
      ))}
    </Group>
  );
}

function SortLink({ column, sorting }: { column: Column; sorting: Sorting }) {
  const direction = directionOf(column, sorting);
  const descend = direction ? direction === 'ascending' : column.descends;
  const Icon = direction ? ARROWS[direction] : IconSelector;
  return (
    <Link
      href={sorting.to(descend ? `-${column.name}` : column.name)}
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

function directionOf({ name }: Column, { sort }: Sorting): 'ascending' | 'descending' | null {
  if (sort === name) return 'ascending';
  return sort === `-${name}` ? 'descending' : null;
}
