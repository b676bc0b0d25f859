import { z } from 'zod';

export const MAX_PER_PAGE = 100;
/** 100 rows each; an offset beyond the integers of PostgreSQL is no page. */
const MAX_PAGE = 20_000_000;

/** Page numbers count from 1. */
export interface PageRequest {
  page: number;
  per_page: number;
}

export interface Page<Row> extends PageRequest {
  total: number;
  last_page: number;
  data: Row[];
}

/** The largest id of a PostgreSQL `integer` column: above it no row can exist. */
export const MAX_ID = 2_147_483_647;

export const pageFields = {
  page: z
    .int('must be an integer')
    .min(1, 'must be at least 1')
    .max(MAX_PAGE, `must be at most ${MAX_PAGE}`)
    .optional()
    .describe('Page number, from 1. Default 1.'),
  per_page: z
    .int('must be an integer')
    .min(1, 'must be at least 1')
    .max(MAX_PER_PAGE, `must be at most ${MAX_PER_PAGE}`)
    .optional()
    .describe('Rows per page, 1 to 100. Default 25.'),
};

/** Rows per page as an address has them; what is no number of rows counts as not given. */
export const perPageParam = z.coerce.number().int().min(1).max(MAX_PER_PAGE).catch(25);

/** What `page` and `per_page` default to. */
export function pageRequest(input: {
  page?: number | undefined;
  per_page?: number | undefined;
}): PageRequest {
  return { page: input.page ?? 1, per_page: input.per_page ?? 25 };
}

/** SQL limit and offset of a page. */
export function pageBounds({ page, per_page }: PageRequest): { limit: number; offset: number } {
  return { limit: per_page, offset: (page - 1) * per_page };
}

/** The envelope of a list answer; an empty list has one, empty, page. */
export function toPage<Row>(request: PageRequest, total: number, data: Row[]): Page<Row> {
  return {
    page: request.page,
    per_page: request.per_page,
    total,
    last_page: Math.max(1, Math.ceil(total / request.per_page)),
    data,
  };
}

/** The schema of a `Page` of these rows. */
export function pageOf<Row extends z.ZodType>(row: Row) {
  return z.object({
    page: z.int(),
    per_page: z.int(),
    total: z.int().describe('Rows on all pages'),
    last_page: z.int(),
    data: z.array(row),
  });
}
