import { z } from 'zod';

/** The schema of a `Page` of these rows. */
export function pageOf<Row extends z.ZodType>(row: Row) {
  return z.object({
    page: z.int().meta({ examples: [1] }),
    per_page: z.int().meta({ examples: [25] }),
    total: z.int().meta({ description: 'Rows on all pages', examples: [60] }),
    last_page: z.int().meta({ examples: [3] }),
    data: z.array(row),
  });
}
