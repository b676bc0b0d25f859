import type { Page } from '../page';

/** The `Link` header of a page (RFC 8288): first, prev, next, last. */
export function pageLinks(url: URL, publicUrl: string, { page, last_page }: Page<unknown>): string {
  const target = new URL(url.pathname + url.search, publicUrl);
  const link = (rel: string, number: number) => {
    target.searchParams.set('page', String(number));
    return `<${target}>; rel="${rel}"`;
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
