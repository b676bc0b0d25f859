import { redirect } from 'next/navigation';
import type { z } from 'zod';
import { toCalendarDate } from '@/lib/dates';
import { getRuntime } from '@/lib/runtime';
import { toParams } from '../../../_components/search-params';
import { csvResponse } from './csv-response';
import type { ListDeclaration } from './list-declaration';
import { parseFilters } from './parse-filters';

type WithCsv<Schema extends z.ZodObject, Row> = ListDeclaration<Schema, Row> &
  Required<Pick<ListDeclaration<Schema, Row>, 'csv'>>;

/** The filtered list as a file; where a filter is wrong, the list says so. */
export async function csvOfList<Schema extends z.ZodObject, Row>(
  request: Request,
  { schema, path, csv }: WithCsv<Schema, Row>,
): Promise<Response> {
  const { search, searchParams } = new URL(request.url);
  const { filters } = parseFilters(schema, toParams(Object.fromEntries(searchParams)));
  if (!filters) redirect(path + search);
  const runtime = await getRuntime();
  const name = path.slice(path.lastIndexOf('/') + 1);
  return csvResponse(`${name}-${toCalendarDate(runtime.now(), runtime.env.timeZone)}`, csv(runtime, filters));
}
