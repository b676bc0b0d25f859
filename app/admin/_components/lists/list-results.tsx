import type { z } from 'zod';
import { type CursorList, isNumbered, type StaffPage } from '@/lib/counted-list/sorted-page';
import type { PageStart } from '@/lib/page-query';
import { getRuntime } from '@/lib/runtime';
import { TextLink } from '../../../_components/links';
import { toHref, toPageRequest, toPageStart } from '../../../_components/search-params';
import { withParams } from '../../../_components/with-params';
import { CursorFooter } from './cursor-footer';
import { type FilterField, isFiltered } from './filter-field';
import type { ListDeclaration } from './list-declaration';
import { ListFrame } from './list-frame';
import { Pager } from './pager';

interface Props<Schema extends z.ZodObject, Row> {
  list: ListDeclaration<Schema, Row>;
  filters: z.output<Schema>;
  search: URLSearchParams;
  params: URLSearchParams;
  fields: FilterField[];
}

/** A page of a list, and the ways on from it. */
export async function ListResults<Schema extends z.ZodObject, Row>(props: Props<Schema, Row>) {
  const { list, filters, search, params, fields } = props;
  const { path, noun, yet, Rows } = list;
  const runtime = await getRuntime();
  const start = toPageStart(search);
  const page = await list.read(runtime, filters, { request: toPageRequest(search), start });
  const refused = isNumbered(page) ? undefined : page.refused;
  const sorting = {
    sort: 'sort' in filters ? String(filters.sort) : '',
    lacks: list.lacks?.(filters),
    to: (sort: string) => withParams(path, params, { sort }),
  };
  return (
    <>
      <ListFrame
        isEmpty={page.data.length === 0}
        noun={`${noun}s`}
        yet={yet}
        hint={
          refused ? <Refusal refused={refused} text={params.get('customer') ?? ''} /> : list.hint?.(filters)
        }
        isFiltered={isFiltered(fields, params)}
        isDeep={!refused && isDeep(page, start)}
        action={<TextLink href={withParams(path, params, {})}>Go to the first page</TextLink>}
      >
        <Rows rows={page.data} sorting={sorting} timeZone={runtime.env.timeZone} />
      </ListFrame>
      {isNumbered(page) ? (
        page.total > 0 && <Pager page={page} path={path} params={params} noun={noun} />
      ) : (
        <CursorFooter {...{ page, path, params, noun }} />
      )}
    </>
  );
}

function isDeep(page: StaffPage<unknown>, start: PageStart): boolean {
  if (isNumbered(page)) return page.total > 0;
  return start.after !== undefined || start.before !== undefined;
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
