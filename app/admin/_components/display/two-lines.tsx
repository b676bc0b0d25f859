import type { ReactNode } from 'react';
import classes from './two-lines.module.css';

/** A value and what explains it, in the height of one line. */
export function TwoLines({ children, below }: { children: ReactNode; below: ReactNode }) {
  return (
    <span className={classes.both}>
      {children}
      <span className={classes.below}>{below}</span>
    </span>
  );
}
