import type { SearchParams } from '../_components/search-params';

/** Converts the parameters of a page to a query, including repeated and empty ones. */
export function toQuery(params: SearchParams): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const one of [value ?? []].flat()) query.append(name, one);
  }
  return query;
}
