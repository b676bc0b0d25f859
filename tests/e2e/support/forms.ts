import { base32 } from '@better-auth/utils/base32';
import { createOTP } from '@better-auth/utils/otp';
import type { Locator, Page } from 'playwright';
import { expect } from 'vitest';
import { STAFF } from './company';

export const link = (page: Page, name: string | RegExp) =>
  page.getByRole('link', { name, exact: typeof name === 'string' });
/** Finds the rows of all tables of a page. */
export const rows = (page: Page | Locator) => page.locator('tbody tr');
export const section = (page: Page, title: string) =>
  page.locator('section').filter({ has: page.getByRole('heading', { name: title, exact: true }) });
export const rowsOf = (page: Page, title: string) => section(page, title).locator('tbody tr');

/** Waits until a page shows each of these texts. */
export async function see(page: Page, ...texts: (string | RegExp)[]): Promise<void> {
  for (const text of texts) await page.getByText(text).first().waitFor();
}

export const seeHeading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { level: 1, name }).waitFor();

export const seeAlert = (page: Page, text: string | RegExp) =>
  page.getByRole('alert').filter({ hasText: text }).waitFor();

/** Finds a form field by its label, which ends with a star if the field is required. */
export const field = (form: Page | Locator, label: string) =>
  form.getByLabel(label, { exact: true }).or(form.getByLabel(`${label} *`, { exact: true }));

/** Fills in form fields, keyed by their labels. */
export async function fill(form: Page | Locator, fields: Record<string, string>): Promise<void> {
  for (const [label, text] of Object.entries(fields)) await field(form, label).fill(text);
}

/** Returns the current values of form fields, in the order of `labels`. */
export const valuesOf = (form: Page | Locator, ...labels: string[]) =>
  Promise.all(labels.map((label) => field(form, label).inputValue()));

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

export const fillLine = (page: Page, n: number, text: string, price: string) =>
  fill(line(page, n), { Text: text, 'Price without tax': price });

/** Presses a button, and waits for the message that reports its result if one is given. */
export async function press(page: Page, name: string, message?: string | RegExp): Promise<void> {
  await use(page, 'button', name);
  if (message) await told(page, message);
}

/** Presses a button, and waits until the page shows a text. */
export async function pressAndSee(page: Page, name: string, text: string | RegExp): Promise<void> {
  await press(page, name);
  await see(page, text);
}

/** Follows a link, and waits until it has opened the URL. */
export async function follow(page: Page, name: string | RegExp, url: string | RegExp): Promise<void> {
  await link(page, name).click();
  await page.waitForURL(url);
}

/** Presses a button once React has hydrated it. Until then, a button without a server action does nothing. */
async function pressHydrated(page: Page, name: string): Promise<void> {
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

/**
 * Presses a button and confirms the dialog.
 *
 * @param button name of the button, and the name of the confirming button if it differs
 * @param message the message that reports the result; without it, the function does not wait for one
 */
export async function confirm(
  page: Page,
  button: string | readonly [button: string, answer: string],
  message?: string | RegExp,
): Promise<void> {
  const [name, answer] = typeof button === 'string' ? [button, button] : button;
  await press(page, name);
  await page.getByRole('dialog').getByRole('button', { name: answer, exact: true }).click();
  if (message) await told(page, message);
}

/** Waits for the message that reports the result of a button. */
export const told = (page: Page, text: string | RegExp) =>
  page.getByRole('status').filter({ hasText: text }).waitFor();

type Focusable = 'button' | 'combobox' | 'textbox' | 'link' | 'spinbutton';

const hasIt = (target: Locator) => target.evaluate((one) => one === document.activeElement);

/** Presses Tab until element `n` of this role and name, counted from 0, has the focus. */
export async function tabTo(page: Page, role: Focusable, name: string | RegExp, n = 0): Promise<void> {
  const target = page.getByRole(role, { name, exact: true }).nth(n);
  for (let i = 0; i < 60; i += 1) {
    if (await hasIt(target)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`${name} cannot be reached`);
}

/** Waits until element `n` of this role and name, counted from 0, has the focus. */
export const hasFocus = (page: Page, role: Focusable, name: string, n = 0) =>
  expect.poll(() => hasIt(page.getByRole(role, { name, exact: true }).nth(n))).toBe(true);

/** Replaces the session cookie of a page with an invalid one. The page needs its own browser context. */
export const endSession = (page: Page) =>
  page
    .context()
    .addCookies([{ name: 'w5t.session_token', value: 'ended.signature', url: new URL(page.url()).origin }]);

/** Fills in the sign-in page and submits it. */
export async function signIn(page: Page, email = STAFF.email, password = STAFF.password): Promise<void> {
  await fill(page, { 'E-mail': email, Password: password });
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Starts the setup of an authenticator app. @returns a function that generates the codes of the app */
export async function beginApp(page: Page, password: string): Promise<() => Promise<string>> {
  const form = page.getByRole('form', { name: 'Set up two-factor authentication' });
  await form.getByLabel('Your password').fill(password);
  await pressHydrated(page, 'Set up authenticator app');
  const key = (await page.locator('code').first().textContent()) ?? '';
  const secret = new TextDecoder().decode(base32.decode(key));
  return () => createOTP(secret, { digits: 6, period: 30 }).totp();
}
