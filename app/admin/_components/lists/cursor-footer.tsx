import { Group, Text } from '@mantine/core';
import { formatCount } from '@/app/_components/format';
import { type CursorList, MAX_COUNTED } from '@/lib/counted-list/sorted-page';
import { withParams } from '../../../_components/with-params';
import { PageSizes, Steps } from './pager';

interface Props {
  page: CursorList<unknown>;
  path: string;
  /** The filters of the list, so that they stay. */
  params: URLSearchParams;
  noun: string;
}

/** How many match, and the ways on. */
export function CursorFooter({ page: { count, previous, next }, path, params, noun }: Props) {
  const to = (changes: Record<string, string | number>) => withParams(path, params, changes);
  if (!count && !previous && !next) return null;
  return (
    <Group justify="space-between" mt="md" gap="md">
      <Text size="sm" c="dimmed">
        {count !== undefined && countText(count, noun)}
      </Text>
      <Group gap="lg">
        {(next || previous || (count ?? 0) > 25) && (
          <PageSizes current={Number(params.get('per_page') ?? 25)} to={(size) => to({ per_page: size })} />
        )}
        {(previous || next) && (
          <Steps previous={previous && to({ before: previous })} next={next && to({ after: next })} />
        )}
      </Group>
    </Group>
  );
}

const countText = (count: number, noun: string) =>
  count > MAX_COUNTED ? `More than ${formatCount(MAX_COUNTED, noun)}` : formatCount(count, noun);
