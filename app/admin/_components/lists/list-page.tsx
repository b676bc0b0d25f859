import { type ReactNode, Suspense } from 'react';
import type { z } from 'zod';
import { toCalendarDate } from '@/lib/dates';
import { getRuntime } from '@/lib/runtime';
import { withParams } from '../../../_components/with-params';
import { PageActions } from '../page/page-actions';
import { PageHeader } from '../page/page-header';
import { DownloadButton } from './download-button';
import { FilterBar } from './filter-bar';
import type { ListDeclaration } from './list-declaration';
import { ListResults } from './list-results';
import { ListSkeleton } from './list-skeleton';
import { parseFilters } from './parse-filters';

interface Props<Schema extends z.ZodObject, Row> {
  list: ListDeclaration<Schema, Row>;
  search: URLSearchParams;
  /** Buttons at the right, beside that of the file. */
  actions?: ReactNode;
  /** What came of an action. */
  notice?: ReactNode;
  /** Between the filters and the rows. */
  children?: ReactNode;
}

/** A page of records: its filters at once, then what they find, unless one of them is wrong. */
export async function ListPage<Schema extends z.ZodObject, Row>(props: Props<Schema, Row>) {
  const { list, search, actions, notice, children } = props;
  const { env, now } = await getRuntime();
  const parsed = parseFilters(list.schema, search);
  const { filters, problems, params } = parsed;
  const fields = list.fields({ today: toCalendarDate(now(), env.timeZone) });
  const file = withParams(`${list.path}/export`, params, { per_page: null });
  return (
    <>
      <PageHeader
        title={list.title}
        description={list.description}
        actions={
          <PageActions primary={actions}>{filters && list.csv && <DownloadButton href={file} />}</PageActions>
        }
      />
      {notice}
      <FilterBar
        key={params.toString()}
        label={`Filter ${list.noun}s`}
        path={list.path}
        fields={fields}
        values={Object.fromEntries(params)}
        problems={problems}
      />
      {children}
      {filters && (
        <Suspense fallback={<ListSkeleton />}>
          <ListResults {...{ list, filters, search, params, fields }} />
        </Suspense>
      )}
    </>
  );
}
