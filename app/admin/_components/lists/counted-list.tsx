import type { ReactNode } from 'react';
import type { Page } from '@/lib/page';
import { ListFrame } from './list-frame';
import { Pager } from './pager';

interface Props<Row> {
  page: Page<Row>;
  /** What the list holds, in the singular. */
  noun: string;
  /** Where an s does not make the plural. */
  nouns?: string;
  /** When there will be some, in a sentence. */
  yet: string;
  path: string;
  params: URLSearchParams;
  children(rows: Row[]): ReactNode;
}

/** A page of a list that is counted. */
export function CountedList<Row>(props: Props<Row>) {
  const { page, noun, nouns = `${noun}s`, yet, path, params, children } = props;
  return (
    <>
      <ListFrame
        isEmpty={page.data.length === 0}
        noun={nouns}
        yet={yet}
        isFiltered={false}
        isDeep={page.total > 0}
      >
        {children(page.data)}
      </ListFrame>
      {page.total > 0 && <Pager page={page} path={path} params={params} noun={noun} nouns={nouns} />}
    </>
  );
}
