import { Button, Group, Text, TextInput } from '@mantine/core';
import type { Metadata } from 'next';
import { redirect } from 'next/navigation';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { getRuntime } from '@/lib/runtime';
import { type SearchResults, searchText } from '@/lib/search/schema';
import { search } from '@/lib/search/search';
import { formatCount, formatMessage } from '../../_components/format';
import { type SearchParams, toParams } from '../../_components/search-params';
import { Nothing } from '../_components/page/nothing';
import { PageHeader } from '../_components/page/page-header';
import { SEARCHED } from '../_components/search/searched';
import { hrefOf } from '../_components/search/to-entry';
import { ResultGroups } from './result-groups';

export const metadata: Metadata = { title: 'Search' };

/** All that a text finds; a record that it names as a whole is shown at once. */
export default async function SearchPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const { db } = await getRuntime();
  const query = toParams(await searchParams).get('q');
  const parsed = query === null ? null : searchText.safeParse(query);
  const results = parsed?.success ? await search(db, parsed.data) : null;
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
      {!results && !problem && <Hints />}
    </>
  );
}

function summary({ groups }: SearchResults, text: string): string {
  const count = groups.reduce((sum, { hits }) => sum + hits.length, 0);
  const some = groups.some(({ more }) => more) ? 'The first ' : '';
  return `${some}${formatCount(count, 'result')} for “${text}”`;
}

function Hints() {
  return (
    <Text size="sm" c="dimmed">
      You can search {SEARCHED}
    </Text>
  );
}
