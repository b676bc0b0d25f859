import type { ReactNode } from 'react';
import type { CursorPage, PageStart } from '@/lib/page-query';
import { TextLink } from '../../../_components/links';
import { withParams } from '../../../_components/with-params';
import { CursorFooter } from './cursor-footer';
import { ListFrame } from './list-frame';

interface Props<Row> {
  page: CursorPage<Row>;
  start: PageStart;
  /** What the list holds, in the singular. */
  noun: string;
  /** When there will be some, in a sentence. */
  yet: string;
  path: string;
  params: URLSearchParams;
  children(rows: Row[]): ReactNode;
}

/** A page of a list that is leafed through without page numbers. */
export function CursorList<Row>(props: Props<Row>) {
  const { page, start, noun, yet, path, params, children } = props;
  return (
    <>
      <ListFrame
        isEmpty={page.data.length === 0}
        noun={`${noun}s`}
        yet={yet}
        isFiltered={false}
        isDeep={start.after !== undefined || start.before !== undefined}
        action={<TextLink href={withParams(path, params, {})}>Go to the first page</TextLink>}
      >
        {children(page.data)}
      </ListFrame>
      <CursorFooter {...{ page, path, params, noun }} />
    </>
  );
}
