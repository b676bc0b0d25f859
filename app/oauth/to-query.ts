import type { SearchParams } from '../_components/search-params';

/** The query of the address, repeated parameters included. */
export function toQuery(params: SearchParams): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const one of [value ?? []].flat()) query.append(name, one);
  }
  return query;
}
