import type { Page } from 'playwright';

/** Opens the chip of a filter. */
export async function openFilter(page: Page, label: string): Promise<void> {
  await page
    .locator('search summary')
    .filter({ hasText: new RegExp(`^${label}`) })
    .click();
}

/** Sets a filter to one of its choices. */
export async function choose(page: Page, label: string, choice: string): Promise<void> {
  await openFilter(page, label);
  await page.locator('search details[open]').getByRole('link', { name: choice, exact: true }).click();
}

/** Sets a filter to a text. */
export async function fillFilter(page: Page, label: string, text: string, field = label): Promise<void> {
  await openFilter(page, label);
  const panel = page.locator('search details[open]');
  await panel.getByLabel(field, { exact: true }).fill(text);
  await panel.getByRole('button', { name: 'Apply' }).click();
}
