import type { ReactNode } from 'react';
import type { z } from 'zod';
import type { ListPlace, StaffPage } from '@/lib/counted-list/sorted-page';
import type { Runtime } from '@/lib/runtime';
import type { FilterField } from './filter-field';
import type { Sorting } from './sort-links';

/** The day it is, for ranges of dates. */
interface Today {
  today: string;
}

/** A list page: what it is called, what narrows it, how it is read, and how its rows look. */
export interface ListDeclaration<Schema extends z.ZodObject, Row> {
  title: string;
  description?: string;
  path: string;
  /** What the list holds, in the singular. */
  noun: string;
  /** When there will be some, in a sentence. */
  yet: string;
  schema: Schema;
  fields(at: Today): FilterField[];
  /** What else to say where they find nothing. */
  hint?(filters: z.output<Schema>): string | undefined;
  read(runtime: Runtime, filters: z.output<Schema>, place: ListPlace): Promise<StaffPage<Row>>;
  /** The order that the list does not have while it is narrowed like this. */
  lacks?(filters: z.output<Schema>): string | undefined;
  /** The rows of a page, in an order that can be chosen. */
  Rows(props: { rows: Row[]; sorting: Sorting; timeZone: string }): ReactNode;
  /** All that match, as a file. */
  csv?(runtime: Runtime, filters: z.output<Schema>): AsyncGenerator<string>;
}
