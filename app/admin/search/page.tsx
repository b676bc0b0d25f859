import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import type { Metadata } from 'next';
import { redirect } from 'next/navigation';
import { requireStaff } from '@/lib/auth/staff-session';
import { getRuntime } from '@/lib/runtime';
import { type SearchResults, searchText } from '@/lib/search/schema';
import { search } from '@/lib/search/search';
import { formatCount, formatMessage } from '../../_components/format';
import { type SearchParams, toParams } from '../../_components/search-params';
import { Nothing } from '../_components/nothing';
import { PageHeader } from '../_components/page-header';
import { ResultGroups } from './result-groups';
import { hrefOf } from './to-entry';

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
            placeholder="Number, name, e-mail, reference, domain, Stripe ID"
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
          text="Check the spelling, or search for a part of it: three letters or more."
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
    <Stack gap={4}>
      {[
        'Customers are found by any part of their number, name, company or e-mail address,',
        'payments by any part of their reference, services by their domain,',
        'invoices and services by the beginning of their number,',
        'and everything by its Stripe ID, or by # and its own: #123.',
      ].map((line) => (
        <Text key={line} size="sm" c="dimmed">
          {line}
        </Text>
      ))}
    </Stack>
  );
}
