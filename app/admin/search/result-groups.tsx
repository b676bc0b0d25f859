import { Stack } from '@mantine/core';
import type { SearchGroup, SearchHit, SearchKind } from '@/lib/search/schema';
import { TextLink } from '../../_components/links';
import { toHref } from '../../_components/search-params';
import { StatusBadge } from '../_components/display/status-badge';
import { RecordList } from '../_components/lists/record-list';
import { Section } from '../_components/page/section';
import { hrefOf, toEntry } from '../_components/search/to-entry';

/** Lists that can be narrowed by part of a text: there the others are. */
const LISTS: Partial<Record<SearchKind, [path: string, filter: string]>> = {
  customer: ['/admin/customers', 'q'],
  payment: ['/admin/payments', 'reference'],
  service: ['/admin/services', 'domain'],
};

/** What a search found, by kind. */
export function ResultGroups({ groups, text }: { groups: SearchGroup[]; text: string }) {
  return (
    <Stack gap="xl">
      {groups.map((group) => (
        <Section key={group.kind} title={group.label} action={group.more && moreLink(group.kind, text)}>
          <RecordList<SearchHit>
            label={group.label}
            rows={group.hits}
            keyOf={({ id }) => id}
            hrefOf={hrefOf}
            columns={group.hits.some(({ figure }) => figure) ? [...COLUMNS, AMOUNT] : COLUMNS}
            entryOf={(hit) => {
              const { title, detail, figure } = toEntry(hit);
              return { title, detail, figure, state: <StatusBadge status={hit.status} /> };
            }}
          />
        </Section>
      ))}
    </Stack>
  );
}

function moreLink(kind: SearchKind, text: string) {
  const [path, filter] = LISTS[kind] ?? [];
  if (!path || !filter) return 'There are more';
  return <TextLink href={toHref(path, { [filter]: text })}>See all that match</TextLink>;
}

const COLUMNS = [
  { label: 'Record', width: '32%', cell: ({ title }: SearchHit) => <strong>{title}</strong>, title: titleOf },
  { label: 'Details', cell: ({ detail }: SearchHit) => detail, title: ({ detail }: SearchHit) => detail },
  { label: 'Status', width: '14%', cell: ({ status }: SearchHit) => <StatusBadge status={status} /> },
];

const AMOUNT = {
  label: 'Amount',
  width: '14%',
  align: 'right' as const,
  cell: (hit: SearchHit) => toEntry(hit).figure,
};

function titleOf({ title }: SearchHit): string {
  return title;
}
