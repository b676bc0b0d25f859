import { expect } from 'vitest';
import type { CursorPage, PageStart } from '@/lib/page-query';

/** Reads all pages of a list forwards, and expects the same pages backwards. @returns the rows */
export async function walkPages<Row>(read: (start: PageStart) => Promise<CursorPage<Row>>): Promise<Row[]> {
  let page = await read({});
  expect(page.previous).toBeNull();
  const pages = [page.data];
  while (page.next !== null) {
    page = await read({ after: page.next });
    pages.push(page.data);
  }
  for (const data of pages.toReversed().slice(1)) {
    page = await read({ before: page.previous ?? '' });
    expect(page.data).toEqual(data);
  }
  expect(page.previous).toBeNull();
  return pages.flat();
}
