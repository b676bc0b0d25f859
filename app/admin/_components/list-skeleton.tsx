import { Paper, Skeleton, VisuallyHidden } from '@mantine/core';
import classes from './list.module.css';

/** The place of a list that is on its way. */
export function ListSkeleton({ rows = 25, mt }: { rows?: number; mt?: 'lg' }) {
  return (
    <Paper withBorder radius="lg" {...(mt && { mt })} role="status" className={classes.frame ?? ''}>
      <VisuallyHidden>Loading</VisuallyHidden>
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
