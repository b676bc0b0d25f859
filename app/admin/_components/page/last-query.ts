const PREFIX = 'w5t.query ';
/** They say what an action did, which a page shows once. */
const ONCE = ['notice', 'check', 'deleted', 'replayed'];

/** Notes the query of a page, so that links back to the page can keep it. Each tab has its own. */
export function noteQuery(pathname: string, search: URLSearchParams): void {
  const params = new URLSearchParams(search);
  for (const name of ONCE) params.delete(name);
  if (params.size > 0) sessionStorage.setItem(PREFIX + pathname, `?${params}`);
  else sessionStorage.removeItem(PREFIX + pathname);
}

/** The query with which this tab last showed a page; empty if it had none. */
export const lastQueryOf = (pathname: string): string => sessionStorage.getItem(PREFIX + pathname) ?? '';
