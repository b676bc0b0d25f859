import type { CursorPage, PageStart } from '../cursor-page';
import type { Page, PageRequest } from '../page';

/** Where in a list an address asks to be: by number in a counted one, by cursor in any other. */
export interface ListPlace {
  request: PageRequest;
  start: PageStart;
}

/** A page with cursors. */
export interface CursorList<Row> extends CursorPage<Row> {
  /** Of all pages, up to `MAX_COUNTED + 1`, where it is counted. */
  count?: number;
  /** Why nothing was looked for: no customer has what was typed, or too many have it. */
  refused?: 'unknown_customer' | 'too_many_customers';
}

/** A page of a list: with page numbers, or with cursors. */
export type StaffPage<Row> = Page<Row> | CursorList<Row>;

export const isNumbered = <Row>(page: StaffPage<Row>): page is Page<Row> => 'last_page' in page;

/** The page of a list that cannot be narrowed to a customer; null where it can. */
export function refusalOf(named: { ids: number[]; tooMany: boolean } | null): CursorList<never> | null {
  const none = { data: [], count: 0, previous: null, next: null };
  if (named?.tooMany) return { ...none, refused: 'too_many_customers' };
  return named?.ids.length === 0 ? { ...none, refused: 'unknown_customer' } : null;
}

/** Reads a list from its first row to its last, a batch at a time. */
export async function* allPages<Row>(
  read: (start: PageStart) => Promise<{ data: Row[]; next: string | null }>,
): AsyncGenerator<Row[]> {
  for (let after: string | null | undefined; after !== null; ) {
    const page: { data: Row[]; next: string | null } = await read({ after });
    yield page.data;
    after = page.next;
  }
}
