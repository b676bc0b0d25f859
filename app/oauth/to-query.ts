import type { SearchParams } from '../_components/search-params';

/** Returns the query of a page's address, including repeated parameters. */
export function toQuery(params: SearchParams): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const one of [value ?? []].flat()) query.append(name, one);
  }
  return query;
}
