import { Group } from '@mantine/core';
import type { CursorPage } from '@/lib/cursor-page';
import { withParams } from '../../_components/search-params';
import { Steps } from './pager';

interface Props {
  page: CursorPage<unknown>;
  path: string;
  /** The filters of the list, so that they stay. */
  params: URLSearchParams;
}

/** The ways on from a list that is not counted. */
export function CursorFooter({ page: { previous, next }, path, params }: Props) {
  if (!previous && !next) return null;
  return (
    <Group justify="flex-end" mt="md">
      <Steps
        previous={previous && withParams(path, params, { before: previous })}
        next={next && withParams(path, params, { after: next })}
      />
    </Group>
  );
}
