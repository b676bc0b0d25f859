import type { Locator, Page } from 'playwright';
import { expect } from 'vitest';
import { STAFF } from './company';

async function openFilter(page: Page, label: string): Promise<void> {
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

export async function fillFilter(page: Page, label: string, text: string, field = label): Promise<void> {
  await openFilter(page, label);
  const panel = page.locator('search details[open]');
  await panel.getByLabel(field, { exact: true }).fill(text);
  await panel.getByRole('button', { name: 'Apply' }).click();
}

/** Finds line `n` of a form, counted from 1. */
export const line = (page: Page, n: number) => page.getByRole('group', { name: `Line ${n}`, exact: true });

export async function fillLine(page: Page, n: number, text: string, price: string): Promise<void> {
  await line(page, n).getByLabel('Text').fill(text);
  await line(page, n).getByLabel('Price without tax').fill(price);
}

export const press = (page: Page, name: string) => use(page, 'button', name);

/** Presses a button once React has hydrated it. Until then, a button without a server action does nothing. */
export async function pressHydrated(page: Page, name: string): Promise<void> {
  const button = page.getByRole('button', { name, exact: true });
  const isHydrated = () =>
    button.evaluate((element) => Object.keys(element).some((key) => key.startsWith('__reactFiber')));
  await expect.poll(isHydrated).toBe(true);
  await button.click();
}

/** Follows a link or presses a button, even if it is in the menu of the page. */
export async function use(page: Page, role: 'button' | 'link', name: string): Promise<void> {
  await page
    .getByRole(role, { name, exact: true, includeHidden: true })
    .first()
    .waitFor({ state: 'attached' });
  if (await inMenu(page, role, name).count()) await page.locator('details[data-menu] > summary').click();
  await page.getByRole(role, { name, exact: true }).click();
}

/** Finds a link or button in the closed menu of a page. */
export const inMenu = (page: Page, role: 'button' | 'link', name: string): Locator =>
  page.locator('details[data-menu]:not([open])').getByRole(role, { name, exact: true, includeHidden: true });

/** Presses a button and confirms the dialog. */
export async function confirm(page: Page, button: string, answer = button): Promise<void> {
  await press(page, button);
  await page.getByRole('dialog').getByRole('button', { name: answer, exact: true }).click();
}

/** Waits for the message that reports the result of a button. */
export const told = (page: Page, text: string | RegExp) =>
  page.getByRole('status').filter({ hasText: text }).waitFor();

type Focusable = 'button' | 'combobox' | 'textbox' | 'link' | 'spinbutton';

const hasIt = (target: Locator) => target.evaluate((one) => one === document.activeElement);

/** Presses Tab until the nth element of this role and name has the focus. */
export async function tabTo(page: Page, role: Focusable, name: string | RegExp, n = 0): Promise<void> {
  const target = page.getByRole(role, { name, exact: true }).nth(n);
  for (let i = 0; i < 60; i += 1) {
    if (await hasIt(target)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`${name} cannot be reached`);
}

/** Waits until an element has the focus. */
export const hasFocus = (page: Page, role: Focusable, name: string, n = 0) =>
  expect.poll(() => hasIt(page.getByRole(role, { name, exact: true }).nth(n))).toBe(true);

/** Ends the session of a page. The page needs its own browser context. */
export const endSession = (page: Page) =>
  page
    .context()
    .addCookies([{ name: 'w5t.session_token', value: 'ended.signature', url: new URL(page.url()).origin }]);

/** Fills in the sign-in page and submits it. */
export async function signIn(page: Page, email = STAFF.email, password = STAFF.password): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}
