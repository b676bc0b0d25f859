import { Paper, Skeleton, VisuallyHidden } from '@mantine/core';
import classes from './list.module.css';

interface Props {
  rows?: number;
  /** Whether to include space for the column headers. */
  headed?: boolean;
  /** Whether the list has a border. False if another frame surrounds it. */
  framed?: boolean;
}

/** Shows a placeholder with `rows` rows while a list loads. */
export function ListSkeleton({ rows = 25, headed = false, framed = true }: Props) {
  return (
    <Paper withBorder={framed} radius="lg" role="status" className={`${classes.frame} ${classes.list}`}>
      <VisuallyHidden>Loading</VisuallyHidden>
      {headed && <div className={classes.skeletonHead} />}
      {Array.from({ length: rows }, (_, row) => row).map((row) => (
        <div key={row} className={classes.skeletonRow}>
          <Skeleton height={10} width={`${LENGTHS[row % LENGTHS.length]}%`} radius="xl" />
          <Skeleton height={10} width="10%" radius="xl" />
        </div>
      ))}
    </Paper>
  );
}

const LENGTHS = [42, 55, 36, 48, 31];
