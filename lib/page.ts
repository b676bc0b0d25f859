import { z } from 'zod';

export const MAX_PER_PAGE = 100;
/** Maximum page number. With 100 rows per page, the offset still fits a PostgreSQL integer. */
const MAX_PAGE = 20_000_000;

/** A requested page. Page numbers start at 1. */
export interface PageRequest {
  page: number;
  per_page: number;
}

export interface Page<Row> extends PageRequest {
  total: number;
  last_page: number;
  data: Row[];
}

/** The largest id of a PostgreSQL `integer` column. No row can have a larger one. */
export const MAX_ID = 2_147_483_647;

/** Returns the schema of a whole number from 1 to `max`. */
export const upTo = (max: number) =>
  z.int('must be an integer').min(1, 'must be at least 1').max(max, `must be at most ${max}`);

export const pageFields = {
  page: upTo(MAX_PAGE).optional().describe('Page number, from 1. Default 1.'),
  per_page: upTo(MAX_PER_PAGE).optional().describe('Rows per page, 1 to 100. Default 25.'),
};

/** Schema of the page size in a URL. A missing or invalid size becomes 25. */
export const perPageParam = z.coerce.number().int().min(1).max(MAX_PER_PAGE).catch(25);

/** Fills in the defaults of `page` and `per_page`. */
export function pageRequest(input: {
  page?: number | undefined;
  per_page?: number | undefined;
}): PageRequest {
  return { page: input.page ?? 1, per_page: input.per_page ?? 25 };
}

/** Returns the SQL limit and offset of a page. */
export function pageBounds({ page, per_page }: PageRequest): { limit: number; offset: number } {
  return { limit: per_page, offset: (page - 1) * per_page };
}

/** Wraps rows in the envelope of a list response. An empty list has one empty page. */
export function toPage<Row>(request: PageRequest, total: number, data: Row[]): Page<Row> {
  return {
    page: request.page,
    per_page: request.per_page,
    total,
    last_page: Math.max(1, Math.ceil(total / request.per_page)),
    data,
  };
}

/** Returns the schema of a `Page` of rows. */
export function pageOf<Row extends z.ZodType>(row: Row) {
  return z.object({
    page: z.int(),
    per_page: z.int(),
    total: z.int().describe('Rows on all pages'),
    last_page: z.int(),
    data: z.array(row),
  });
}
