import type { ReactNode } from 'react';
import type { z } from 'zod';
import { formatField } from '@/app/_components/format';
import type { ListPlace } from '@/lib/counted-list/define-list';
import type { StaffPage } from '@/lib/counted-list/sorted-page';
import type { DatePreset } from '@/lib/dates';
import type { Runtime } from '@/lib/runtime';
import type { Sorting } from './record-list';

/** Reads the rows of a list that match its filters. `defineList` creates most list sources. */
interface ListSource<Schema extends z.ZodObject, Row> {
  schema: Schema;
  read(db: Db, filters: z.output<Schema>, place: ListPlace, runtime: Runtime): Promise<StaffPage<Row>>;
  /** Returns the sort orders that are not available with these filters. */
  lacks?(filters: z.output<Schema>): string[];
  /** Returns all matching rows as pieces of a CSV file. */
  csv?(db: Db, filters: z.output<Schema>, runtime: Runtime): AsyncGenerator<string>;
}

type Db = Runtime['db'];

/** Declares the texts and the filters of a list page, and how the page reads and shows rows. */
export interface ListDeclaration<Schema extends z.ZodObject, Row> {
  title: string;
  description?: string;
  path: string;
  /** Name of the CSV file before its date. Defaults to the last part of the path. */
  file?: string;
  /** Word for one record of the list, in the singular. */
  noun: string;
  /** Sentence that says when an empty list will have rows. */
  yet: string;
  source: ListSource<Schema, Row>;
  /** Returns the filters. @param today today's calendar date, for ranges of dates */
  fields(today: string): FilterField[];
  /** Returns a hint to show if the filters match no row. */
  hint?(filters: z.output<Schema>): string | undefined;
  /** Renders the rows of a page, with links that change the sort order. */
  Rows(props: { rows: Row[]; sorting: Sorting; timeZone: string }): ReactNode;
}

/** Returns the last part of the URL of a list's CSV file. @param path path of the list, such as `/admin/payments` */
export const downloadName = (path: string): string => path.slice('/admin/'.length).replaceAll('/', '-');

/** Returns the declaration. Its only purpose is type inference. */
export const declareList = <Schema extends z.ZodObject, Row>(declared: ListDeclaration<Schema, Row>) =>
  declared;

interface TextField {
  name: string;
  label: string;
  placeholder?: string;
}

interface ChoiceField {
  name: string;
  label: string;
  options: { value: string; label: string }[];
}

/** A filter for a range of days. The URL contains the first and the last day as `from` and `to`. */
interface DatesField {
  name: 'from';
  label: string;
  /** Ranges that can be chosen with one click. */
  presets: DatePreset[];
}

export type FilterField = TextField | ChoiceField | DatesField;

/** Returns the query parameters of a filter. */
export const namesOf = (field: FilterField): string[] => ('presets' in field ? ['from', 'to'] : [field.name]);

/** Returns true if the URL sets any filter. */
export const isFiltered = (fields: FilterField[], params: URLSearchParams): boolean =>
  fields.flatMap(namesOf).some((name) => params.has(name));

/** Converts the values of an enum to the options of a filter. */
export function choiceOf(values: readonly string[]): { value: string; label: string }[] {
  return values.map((value) => ({ value, label: formatField(value) }));
}

/** The customer filter of lists whose records belong to a customer. */
export const customerField: FilterField = {
  name: 'customer',
  label: 'Customer',
  placeholder: 'Number, name, e-mail',
};

interface ParsedFilters<Filters> {
  /** The parsed filters. Null if any filter is invalid. */
  filters: Filters | null;
  /** The first error message of each invalid field. */
  problems: Record<string, string>;
  /** The parameters that the schema declares, for links, e.g. filters and sort order, but not the page number. */
  params: URLSearchParams;
}

/** Parses the filters in the URL of a list. */
export function parseFilters<Schema extends z.ZodObject>(
  schema: Schema,
  search: URLSearchParams,
): ParsedFilters<z.output<Schema>> {
  const given = [...search].filter(([name]) => Object.hasOwn(schema.shape, name));
  const parsed = schema.safeParse(Object.fromEntries(given));
  const problems: Record<string, string> = {};
  for (const { path, message } of parsed.error?.issues ?? []) problems[String(path[0])] ??= message;
  return { filters: parsed.data ?? null, problems, params: new URLSearchParams(given) };
}
