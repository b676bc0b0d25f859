import type { ReactNode } from 'react';
import type { CursorPage, PageStart } from '@/lib/cursor-page';
import { TextLink } from '../../_components/links';
import { withParams } from '../../_components/search-params';
import { CursorFooter } from './cursor-footer';
import type { FilterField } from './filter-bar';
import { ListFrame } from './list-frame';

interface Props<Row> {
  page: CursorPage<Row>;
  start: PageStart;
  /** What the list holds, in the plural. */
  noun: string;
  /** When there will be some, in a sentence. */
  yet: string;
  /** What else to say where a filter finds nothing. */
  hint?: string | undefined;
  path: string;
  params: URLSearchParams;
  fields?: FilterField[];
  /** In place of the plain ways on. */
  footer?: ReactNode;
  children(rows: Row[]): ReactNode;
}

/** A page of a list that is leafed through without page numbers. */
export function CursorList<Row>(props: Props<Row>) {
  const { page, start, noun, yet, hint, path, params, fields = [], footer, children } = props;
  return (
    <>
      <ListFrame
        isEmpty={page.data.length === 0}
        noun={noun}
        yet={yet}
        hint={hint}
        isFiltered={fields.some(({ name }) => params.has(name))}
        isDeep={start.after !== undefined || start.before !== undefined}
        action={<TextLink href={withParams(path, params, {})}>To the first page</TextLink>}
      >
        {children(page.data)}
      </ListFrame>
      {footer ?? <CursorFooter page={page} path={path} params={params} />}
    </>
  );
}
