import { z } from 'zod';

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
