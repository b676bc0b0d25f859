import { Skeleton } from '@mantine/core';

/** The place of a part of the page that is on its way, as high as it will be. */
export function BlockSkeleton({ height }: { height: number }) {
  return <Skeleton height={height} radius="lg" role="status" aria-label="Loading" />;
}
