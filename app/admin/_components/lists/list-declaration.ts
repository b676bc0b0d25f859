import type { ReactNode } from 'react';
import type { z } from 'zod';
import { formatField } from '@/app/_components/format';
import type { ListPlace } from '@/lib/counted-list/define-list';
import type { StaffPage } from '@/lib/counted-list/sorted-page';
import type { DatePreset } from '@/lib/dates';
import type { Runtime } from '@/lib/runtime';
import type { Sorting } from './record-list';

/** How a list is narrowed and read, see `defineList`. */
interface ListSource<Schema extends z.ZodObject, Row> {
  schema: Schema;
  read(db: Db, filters: z.output<Schema>, place: ListPlace, runtime: Runtime): Promise<StaffPage<Row>>;
  /** The order that the list does not have while it is narrowed like this. */
  lacks?(filters: z.output<Schema>): string | undefined;
  /** All that match, as a file. */
  csv?(db: Db, filters: z.output<Schema>, runtime: Runtime): AsyncGenerator<string>;
}

type Db = Runtime['db'];

/** A list page: what it is called, what narrows it, how it is read, and how its rows look. */
export interface ListDeclaration<Schema extends z.ZodObject, Row> {
  title: string;
  description?: string;
  path: string;
  /** What the list holds, in the singular. */
  noun: string;
  /** When there will be some, in a sentence. */
  yet: string;
  source: ListSource<Schema, Row>;
  /** @param today the calendar date, for ranges of dates */
  fields(today: string): FilterField[];
  /** What else to say where they find nothing. */
  hint?(filters: z.output<Schema>): string | undefined;
  /** The rows of a page, in an order that can be chosen. */
  Rows(props: { rows: Row[]; sorting: Sorting; timeZone: string }): ReactNode;
}

/** Types a declaration. */
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

/** The first and the last day, in the address as `from` and `to`. */
interface DatesField {
  name: 'from';
  label: string;
  /** Ranges to choose at once. */
  presets: DatePreset[];
}

/** What a list can be narrowed by. */
export type FilterField = TextField | ChoiceField | DatesField;

/** The names that a filter has in an address. */
export const namesOf = (field: FilterField): string[] => ('presets' in field ? ['from', 'to'] : [field.name]);

/** Whether an address narrows a list. */
export const isFiltered = (fields: FilterField[], params: URLSearchParams): boolean =>
  fields.flatMap(namesOf).some((name) => params.has(name));

/** Values of an enum as the options of a filter. */
export function choiceOf(values: readonly string[]): { value: string; label: string }[] {
  return values.map((value) => ({ value, label: formatField(value) }));
}

/** Whose records a list shows, the same in every list. */
export const customerField: FilterField = {
  name: 'customer',
  label: 'Customer',
  placeholder: 'Number, name, e-mail',
};

interface ParsedFilters<Filters> {
  /** Null when one is wrong. */
  filters: Filters | null;
  /** Of each wrong field its first message. */
  problems: Record<string, string>;
  /** The filters of the address, for links, without the page and unknown parameters. */
  params: URLSearchParams;
}

/** The filters in the address of a list. */
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
