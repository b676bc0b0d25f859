import { Paper } from '@mantine/core';
import type { ReactNode } from 'react';
import { Nothing } from '../page/nothing';
import classes from './list.module.css';

interface Props {
  isEmpty: boolean;
  /** What the list holds, in the plural. */
  noun: string;
  /** When there will be some, in a sentence. */
  yet: string;
  /** What else to say where a filter finds nothing. */
  hint?: ReactNode;
  /** Narrowed by a filter. */
  isFiltered: boolean;
  /** Not the first page. */
  isDeep: boolean;
  /** Leads out of an empty page. */
  action?: ReactNode;
  children: ReactNode;
}

/** The border around a list, and what it says where there are no rows. */
export function ListFrame({ isEmpty, children, ...why }: Props) {
  return (
    <Paper withBorder radius="lg" className={classes.frame ?? ''} id="list" tabIndex={-1}>
      {isEmpty ? <Why {...why} /> : children}
    </Paper>
  );
}

function Why({ noun, yet, hint, isFiltered, isDeep, action }: Omit<Props, 'isEmpty' | 'children'>) {
  if (isDeep)
    return <Nothing title={`No more ${noun}`} text="The list ends before this page." action={action} />;
  if (isFiltered)
    return <Nothing title={`No ${noun} found`} text={hint ?? 'Nothing matches these filters.'} />;
  return <Nothing title={`No ${noun} yet`} text={yet} />;
}
