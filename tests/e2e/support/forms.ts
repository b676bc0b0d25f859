import type { Page } from 'playwright';
import { eventually } from './payment-pages';

/** Line `n` of a form, counted from 1. */
export const line = (page: Page, n: number) => page.getByRole('group', { name: `Line ${n}`, exact: true });

export async function fillLine(page: Page, n: number, text: string, price: string): Promise<void> {
  await line(page, n).getByLabel('Text').fill(text);
  await line(page, n).getByLabel('Price without tax').fill(price);
}

export const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

/** Presses a button and says yes. */
export async function confirm(page: Page, button: string, answer = button): Promise<void> {
  await press(page, button);
  await page.getByRole('dialog').getByRole('button', { name: answer, exact: true }).click();
}

/** Waits for what came of a button. */
export const told = (page: Page, text: string) =>
  page.getByRole('status').filter({ hasText: text }).waitFor();

/** Presses Tab until a button or field of this name has the focus. */
export async function tabTo(page: Page, role: 'button' | 'textbox', name: string, n = 0): Promise<void> {
  const target = page.getByRole(role, { name, exact: true }).nth(n);
  for (let i = 0; i < 60; i += 1) {
    if (await target.evaluate((one) => one === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`${name} cannot be reached`);
}

export const hasFocus = (page: Page, role: 'button' | 'textbox', name: string, n = 0) =>
  eventually(() =>
    page
      .getByRole(role, { name, exact: true })
      .nth(n)
      .evaluate((one) => one === document.activeElement),
  );
