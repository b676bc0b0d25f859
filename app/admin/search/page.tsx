import { Button, Group, Stack, TextInput } from '@mantine/core';
import { redirect } from 'next/navigation';
import {
  type SearchGroup,
  type SearchHit,
  type SearchKind,
  type SearchResults,
  searchText,
} from '@/lib/search/schema';
import { search as findRecords } from '@/lib/search/search';
import { formatCount, formatMessage } from '../../_components/format';
import { TextLink } from '../../_components/links';
import { Dimmed, StatusBadge } from '../_components/display/values';
import { RecordList } from '../_components/lists/record-list';
import { Nothing, PageHeader, Section, staffPage } from '../_components/page/staff-page';
import { listHref } from '../_components/search/list-href';
import { hrefOf, SEARCHED, toEntry } from '../_components/search/to-entry';

export const metadata = { title: 'Search' };

/** Shows the search results for a text. If the text identifies exactly one record, redirects to that record. */
export default staffPage(async ({ runtime: { db }, search }) => {
  const query = search.get('q');
  const parsed = query === null ? null : searchText.safeParse(query);
  const results = parsed?.success ? await findRecords(db, parsed.data) : null;
  if (results?.only) redirect(hrefOf(results.only));
  const problem = parsed?.error?.issues[0]?.message;
  return (
    <>
      <PageHeader title="Search" description={results ? summary(results, query ?? '') : undefined} />
      <form action="/admin/search">
        <Group gap="xs" align="flex-start" mb="xl">
          <TextInput
            name="q"
            aria-label="Search"
            placeholder="Number, name, e-mail, amount, reference, domain, Stripe ID"
            size="sm"
            flex={1}
            maw={560}
            required
            defaultValue={query ?? ''}
            autoFocus={!results}
            error={problem && formatMessage(problem)}
          />
          <Button type="submit" size="sm" variant="default">
            Search
          </Button>
        </Group>
      </form>
      {results && results.groups.length > 0 && <ResultGroups groups={results.groups} text={query ?? ''} />}
      {results?.groups.length === 0 && (
        <Nothing
          title="Nothing found"
          text={`Searched: ${SEARCHED} Check the spelling, or type at least three letters.`}
        />
      )}
      {!results && !problem && <Dimmed>You can search {SEARCHED}</Dimmed>}
    </>
  );
});

function summary({ groups }: SearchResults, text: string): string {
  const count = groups.reduce((sum, { hits }) => sum + hits.length, 0);
  const some = groups.some(({ more }) => more) ? 'The first ' : '';
  return `${some}${formatCount(count, 'result')} for “${text}”`;
}

/** Shows the search results in a section for each kind of record. */
function ResultGroups({ groups, text }: { groups: SearchGroup[]; text: string }) {
  return (
    <Stack gap="xl">
      {groups.map((group) => (
        <Section key={group.kind} title={group.label} action={group.more && moreLink(group.kind, text)}>
          <RecordList<SearchHit>
            label={group.label}
            rows={group.hits}
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
  const href = listHref(kind, text);
  return href ? <TextLink href={href}>See all that match</TextLink> : 'There are more';
}

const COLUMNS = [
  {
    label: 'Record',
    width: '32%',
    cell: ({ title }: SearchHit) => <strong>{title}</strong>,
    title: ({ title }: SearchHit) => title,
  },
  { label: 'Details', cell: ({ detail }: SearchHit) => detail, title: true as const },
  { label: 'Status', width: '14%', cell: ({ status }: SearchHit) => <StatusBadge status={status} /> },
];

const AMOUNT = {
  label: 'Amount',
  width: '14%',
  align: 'right' as const,
  cell: (hit: SearchHit) => toEntry(hit).figure,
};
