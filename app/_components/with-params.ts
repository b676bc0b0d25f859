/** Returns a page's URL with changes to its query. A null value removes the parameter. `page=1` is left out. */
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
