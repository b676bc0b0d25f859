import type { Page } from '../page';

/** The `Link` header of a page (RFC 8288): first, prev, next, last. */
export function pageLinks(url: URL, publicUrl: string, { page, last_page }: Page<unknown>): string {
  const path = new URL(url.pathname, publicUrl);
  const query = new URLSearchParams(url.search);
  const link = (rel: string, number: number) => {
    query.set('page', String(number));
    return `<${path}?${query}>; rel="${rel}"`;
  };
  return [
    link('first', 1),
    page > 1 && link('prev', Math.min(page - 1, last_page)),
    page < last_page && link('next', page + 1),
    link('last', last_page),
  ]
    .filter((entry) => entry !== false)
    .join(', ');
}
