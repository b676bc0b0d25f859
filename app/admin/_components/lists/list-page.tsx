import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { type ReactNode, Suspense } from 'react';
import type { z } from 'zod';
import { TextLink } from '@/app/_components/links';
import { toHref, toPageRequest, toPageStart } from '@/app/_components/search-params';
import { withParams } from '@/app/_components/with-params';
import { type CursorList, isNumbered } from '@/lib/counted-list/sorted-page';
import { toCalendarDate } from '@/lib/dates';
import { getRuntime } from '@/lib/runtime';
import { PageActions } from '../page/page-actions';
import { PageHeader } from '../page/staff-page';
import { FilterBar } from './filter-bar';
import {
  downloadName,
  type FilterField,
  isFiltered,
  type ListDeclaration,
  parseFilters,
} from './list-declaration';
import { ListSkeleton, PagedList } from './paged-list';

interface Props<Schema extends z.ZodObject, Row> {
  list: ListDeclaration<Schema, Row>;
  search: URLSearchParams;
  /** Buttons on the right, next to the download button. */
  actions?: ReactNode;
  /** Message with the outcome of the action that redirected here. */
  notice?: ReactNode;
  /** Content between the filters and the rows. */
  children?: ReactNode;
}

/** Shows a list page. The filters appear immediately, and the rows appear once they have been read. */
export async function ListPage<Schema extends z.ZodObject, Row>(props: Props<Schema, Row>) {
  const { list, search, actions, notice, children } = props;
  const { env, now } = await getRuntime();
  const { filters, problems, params } = parseFilters(list.source.schema, search);
  const fields = list.fields(toCalendarDate(now(), env.timeZone));
  const file = withParams(`/admin/export/${downloadName(list.path)}`, params, { per_page: null });
  return (
    <>
      <PageHeader
        title={list.title}
        description={list.description}
        actions={
          <PageActions primary={actions}>
            {filters && list.source.csv && <DownloadButton href={file} />}
          </PageActions>
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

interface ListResultsProps<Schema extends z.ZodObject, Row>
  extends Pick<Props<Schema, Row>, 'list' | 'search'> {
  filters: z.output<Schema>;
  params: URLSearchParams;
  fields: FilterField[];
}

/** Reads and shows the rows of one page, with links to the other pages. */
async function ListResults<Schema extends z.ZodObject, Row>(props: ListResultsProps<Schema, Row>) {
  const { list, filters, search, params, fields } = props;
  const { path, noun, yet, Rows } = list;
  const runtime = await getRuntime();
  const start = toPageStart(search);
  const place = { request: toPageRequest(search), start };
  const page = await list.source.read(runtime.db, filters, place, runtime);
  const refused = isNumbered(page) ? undefined : page.refused;
  const sorting = {
    sort: 'sort' in filters ? String(filters.sort) : '',
    lacks: list.source.lacks?.(filters),
    to: (sort: string) => withParams(path, params, { sort }),
  };
  return (
    <PagedList
      {...{ page, start, noun, yet, path, params }}
      hint={
        refused ? <Refusal refused={refused} text={params.get('customer') ?? ''} /> : list.hint?.(filters)
      }
      isFiltered={isFiltered(fields, params)}
      hasSizes={'per_page' in list.source.schema.shape}
    >
      {(rows) => <Rows rows={rows} sorting={sorting} timeZone={runtime.env.timeZone} />}
    </PagedList>
  );
}

function Refusal({ refused, text }: Pick<CursorList<unknown>, 'refused'> & { text: string }) {
  return (
    <>
      {refused === 'unknown_customer'
        ? 'No customer number, name or e-mail address contains this.'
        : 'Too many customers match: type more of the name.'}{' '}
      <TextLink href={toHref('/admin/search', { q: text })}>Search for the customer</TextLink>
    </>
  );
}

/** Shows a download link. It is a plain link, because Next's router would treat the file as a page. */
export function DownloadButton({ href, children = 'Download CSV' }: { href: string; children?: string }) {
  return (
    <Button
      component="a"
      href={href}
      variant="default"
      size="sm"
      leftSection={<IconDownload size={16} stroke={1.8} aria-hidden />}
    >
      {children}
    </Button>
  );
}
