import type { z } from 'zod';

export interface ParsedFilters<Filters> {
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
