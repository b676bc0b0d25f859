// Apart from search-params.ts, which brings zod along: browsers need this alone.

/** A page's address with some of its query changed, null: taken away; page 1 is not mentioned. */
export function withParams(
  path: string,
  params: URLSearchParams,
  changes: Record<string, string | number | null>,
): string {
  const next = new URLSearchParams(params);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) next.delete(name);
    else next.set(name, String(value));
  }
  if (next.get('page') === '1') next.delete('page');
  return next.size > 0 ? `${path}?${next}` : path;
}
