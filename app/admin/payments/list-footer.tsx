import { Group, Text } from '@mantine/core';
import { MAX_COUNTED, type StaffPayments } from '@/lib/payments/list-for-staff';
import { formatCount } from '../../_components/format';
import { withParams } from '../../_components/search-params';
import { PageSizes, Steps } from '../_components/pager';
import { PATH } from './path';

interface Props {
  page: StaffPayments;
  perPage: number;
  params: URLSearchParams;
}

/** How many payments match, and the ways on. */
export function ListFooter({ page: { count, previous, next }, perPage, params }: Props) {
  const to = (changes: Record<string, string | number>) => withParams(PATH, params, changes);
  return (
    <Group justify="space-between" mt="md" gap="md">
      <Text size="sm" c="dimmed">
        {count > MAX_COUNTED
          ? `More than ${formatCount(MAX_COUNTED, 'payment')}`
          : formatCount(count, 'payment')}
      </Text>
      <Group gap="lg">
        {count > 25 && <PageSizes current={perPage} to={(size) => to({ per_page: size })} />}
        {(previous || next) && (
          <Steps previous={previous && to({ before: previous })} next={next && to({ after: next })} />
        )}
      </Group>
    </Group>
  );
}
