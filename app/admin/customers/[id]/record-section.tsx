import { Group, Text } from '@mantine/core';
import { type ReactNode, Suspense } from 'react';
import { MAX_RECORDS } from '@/lib/overview/counts';
import { formatNumber } from '../../../_components/format';
import { TextLink } from '../../../_components/links';
import { toHref } from '../../../_components/search-params';
import { ListSkeleton } from '../../_components/lists/list-skeleton';
import { Section } from '../../_components/page/section';

/** Of each kind of record so many are shown. */
export const ROWS = 10;

interface Props {
  title: string;
  /** What stands there where it has none. */
  none: string;
  count: number;
  /** Shown at once, and not only when it is unfolded. */
  open?: boolean;
  /** The filtered list that has all of them. */
  all: { path: string; customer_number: string; total?: number; noun: string };
  /** Leads to what makes one more. */
  add?: ReactNode;
  children: ReactNode;
}

/** Some records of a customer; until they are read, a place of the same size. */
export function RecordSection({ title, none, count, open = false, all, add, children }: Props) {
  return (
    <Section
      title={title}
      folds={!open}
      action={
        <Group gap="md">
          {add}
          {all.total !== 0 && <AllLink {...all} shown={Math.min(count, ROWS)} />}
        </Group>
      }
    >
      {count > 0 ? (
        <Suspense fallback={<ListSkeleton rows={Math.min(count, ROWS)} headed framed={false} />}>
          {children}
        </Suspense>
      ) : (
        <Text size="sm" c="dimmed" p="md">
          {none}
        </Text>
      )}
    </Section>
  );
}

function AllLink({ path, customer_number, total, noun, shown }: Props['all'] & { shown: number }) {
  const number =
    total === undefined || total <= shown || total > MAX_RECORDS ? '' : ` (${formatNumber(total)})`;
  return (
    <TextLink href={toHref(path, { customer: customer_number })} prefetch={false}>
      All {noun}
      {number}
    </TextLink>
  );
}
