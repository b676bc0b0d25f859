import type { Page } from 'playwright';
import type { useSite } from './use-site';

type Site = ReturnType<typeof useSite>;

export const PATH = '/docs/api';
export const DOCUMENT = '/api/openapi.json';

/** Opens the API reference as a visitor and waits for its operations. */
export async function openReference(site: Site, options: Parameters<Site['open']>[1] = {}): Promise<Page> {
  const page = await site.open(PATH, { as: null, ...options });
  await page.locator('.opblock').first().waitFor();
  return page;
}

export const operation = (page: Page, name: string) => page.getByRole('button', { name }).first();
