import { MAX_ID, MAX_PER_PAGE, type PageRequest, pageRequest } from '@/lib/page';
import type { PageStart } from '@/lib/page-query';
import { withParams } from './with-params';

export type SearchParams = Record<string, string | string[] | undefined>;

/** Converts a page's search parameters to a query. Keeps each parameter's first value, trimmed, unless it is empty. */
export function toParams(search: SearchParams): URLSearchParams {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    const text = (Array.isArray(value) ? value[0] : value)?.trim();
    if (text) params.set(name, text);
  }
  return params;
}

/** Converts the parameters of a request's URL to a query, as `toParams` does for a page. */
export function toRequestParams(search: URLSearchParams): URLSearchParams {
  return toParams(Object.fromEntries([...search.keys()].map((name) => [name, search.getAll(name)])));
}

/** Returns the URL of a page with the given query. */
export function toHref(path: string, filters: Record<string, string>): string {
  return withParams(path, new URLSearchParams(), filters);
}

/** Reads `page` and `per_page` from a query. An invalid number counts as missing. */
export function toPageRequest(params: URLSearchParams): PageRequest {
  return pageRequest({
    page: toNumber(params.get('page'), 1_000_000),
    per_page: toNumber(params.get('per_page'), MAX_PER_PAGE),
  });
}

/** Reads the cursors `after` and `before` from a query, for lists without page numbers. */
export function toPageStart(params: URLSearchParams): PageStart {
  return { after: params.get('after') ?? undefined, before: params.get('before') ?? undefined };
}

/** Parses a row's id from a path or a query. Returns null if the text is not a valid id. */
export function toId(text: string): number | null {
  return /^[1-9]\d{0,9}$/.test(text) && Number(text) <= MAX_ID ? Number(text) : null;
}

function toNumber(text: string | null, max: number): number | undefined {
  const number = Number(text);
  return Number.isInteger(number) && number >= 1 && number <= max ? number : undefined;
}

/** Converts a page's search parameters to a query. Keeps repeated and empty parameters. */
export function toQuery(params: SearchParams): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const one of [value ?? []].flat()) query.append(name, one);
  }
  return query;
}
