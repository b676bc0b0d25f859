import { type SQL, sql } from 'drizzle-orm';

/** What the filters that are given ask of a row. */
export function usedConditions(
  filters: Record<string, (value: SQL) => SQL>,
  given: Record<string, unknown>,
): SQL[] {
  return Object.entries(filters).flatMap(([name, matches]) =>
    given[name] === undefined ? [] : [matches(sql`${given[name]}`)],
  );
}
