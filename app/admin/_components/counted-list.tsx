import type { ReactNode } from 'react';
import type { Page } from '@/lib/page';
import { TextLink } from '../../_components/links';
import { toHref } from '../../_components/search-params';
import type { FilterField } from './filter-bar';
import { ListFrame } from './list-frame';
import { Pager } from './pager';

interface Props<Row> {
  /** Null where a filter names what there is not. */
  page: Page<Row> | null;
  /** What the list holds, in the singular. */
  noun: string;
  /** Where an s does not make the plural. */
  nouns?: string;
  /** When there will be some, in a sentence. */
  yet: string;
  path: string;
  params: URLSearchParams;
  fields?: FilterField[];
  children(rows: Row[]): ReactNode;
}

/** A page of a list that is counted. */
export function CountedList<Row>(props: Props<Row>) {
  const { page, noun, nouns = `${noun}s`, yet, path, params, fields = [], children } = props;
  const rows = page?.data ?? [];
  return (
    <>
      <ListFrame
        isEmpty={rows.length === 0}
        noun={nouns}
        yet={yet}
        hint={page === null && <UnknownCustomer text={params.get('customer') ?? ''} />}
        isFiltered={fields.some(({ name }) => params.has(name))}
        isDeep={page !== null && page.total > 0}
      >
        {children(rows)}
      </ListFrame>
      {page && page.total > 0 && <Pager page={page} path={path} params={params} noun={noun} nouns={nouns} />}
    </>
  );
}

/** A list is narrowed by a whole number; names are for the search. */
function UnknownCustomer({ text }: { text: string }) {
  return (
    <>
      No customer has this number.{' '}
      <TextLink href={toHref('/admin/search', { q: text })}>Search for the customer</TextLink>
    </>
  );
}
