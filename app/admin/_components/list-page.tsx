import { type ReactNode, Suspense } from 'react';
import { FilterBar, type FilterField } from './filter-bar';
import { ListSkeleton } from './list-skeleton';
import { PageHeader } from './page-header';
import type { ParsedFilters } from './parse-filters';

interface Props<Filters> {
  title: string;
  description?: string;
  /** Buttons at the right. */
  actions?: ReactNode;
  /** What came of an action. */
  notice?: ReactNode;
  /** What the list holds, in the plural. */
  noun: string;
  path: string;
  fields: FilterField[];
  parsed: ParsedFilters<Filters>;
  /** The list; shown as it arrives, unless a filter is wrong. */
  children(filters: Filters): ReactNode;
}

/** A page of records: its filters at once, then what they find. */
export function ListPage<Filters>(props: Props<Filters>) {
  const { title, description, actions, notice, noun, path, fields, parsed, children } = props;
  const { filters, problems, params } = parsed;
  return (
    <>
      <PageHeader title={title} description={description} actions={actions} />
      {notice}
      <FilterBar
        key={params.toString()}
        label={`Filter ${noun}`}
        path={path}
        fields={fields}
        values={Object.fromEntries(params)}
        problems={problems}
      />
      {filters && <Suspense fallback={<ListSkeleton />}>{children(filters)}</Suspense>}
    </>
  );
}
