import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { STAFF } from './support/company';
import { eventually, usePaymentPages } from './support/payment-pages';
import { interceptAction, type SentAction, sendAction, signIn } from './support/staff';
import { violationsOf } from './support/violations';

const LIST = '/admin/payments';

const staff = usePaymentPages();

describe('recording', () => {
  const fillIn = async (page: Page, amount: string, reference: string) => {
    await page.getByLabel('Amount in EUR').fill(amount);
    await page.getByLabel('Reference').fill(reference);
  };
  const recordButton = (page: Page) => page.getByRole('button', { name: 'Record payment' });
  const newPath = () => `${LIST}/new?invoice=%23${staff.held.invoice.id}`;

  test('goes from the invoice number to the payment', async () => {
    const { page } = await staff.open(LIST);
    await page.getByRole('link', { name: 'Record payment' }).click();
    await page.waitForURL(`${staff.url}${LIST}/new`);
    await page.getByRole('textbox', { name: 'Invoice' }).fill('no such number');
    await page.getByRole('button', { name: 'Find invoice' }).click();
    await page.getByText('There is no such invoice.').waitFor();
    await page.getByRole('textbox', { name: 'Invoice' }).fill('Weiß');
    await page.getByRole('button', { name: 'Find invoice' }).click();
    await page.getByRole('table', { name: 'Matching invoices' }).getByText('E2E-1').waitFor();
    await page.getByRole('textbox', { name: 'Invoice' }).fill('e2e-1');
    await page.getByRole('button', { name: 'Find invoice' }).click();
    await page.getByText('=Weiß & Söhne, K-E2E').waitFor();
    expect(await page.getByLabel('Amount in EUR').inputValue()).toBe('119.00');
    const today = new Date().toISOString().slice(0, 10);
    expect(await page.getByLabel('Date').inputValue()).toBe(today);
    await fillIn(page, '1,119', 'CASH-E2E');
    await recordButton(page).click();
    await page.getByText(/^Must be a number like/).waitFor();
    expect(await page.getByLabel('Amount in EUR').inputValue()).toBe('1,119');
    expect(await page.getByLabel('Reference').inputValue()).toBe('CASH-E2E');
    await fillIn(page, '120', 'CASH-E2E');
    await page.getByText('€1.00 more than the balance due. It is kept as a credit on the invoice.').waitFor();
    await fillIn(page, '19,5', 'CASH-E2E');
    await recordButton(page).dblclick();
    await page.waitForURL(/\/admin\/payments\/\d+\?notice=recorded$/);
    await page.getByRole('status').filter({ hasText: 'The payment is recorded.' }).waitFor();
    await page.getByText(`Created by ${STAFF.email}`).waitFor();
    const [payment, another] = await staff.paymentsNamed('CASH-E2E');
    expect(another).toBeUndefined();
    expect(payment).toMatchObject({
      amount: 19.5,
      currency: 'eur',
      status: 'completed',
      source: 'staff',
      payment_date: today,
    });
  });

  test('never writes over the payment that has the reference', async () => {
    const { page } = await staff.open(newPath());
    await fillIn(page, '7', 'E2E-005');
    await recordButton(page).click();
    const link = page.getByRole('link', { name: '€95.00 of 10 Jan 2026' });
    await link.waitFor();
    await eventually(() =>
      page.getByLabel('Reference').evaluate((field) => field === document.activeElement),
    ).toBe(true);
    expect((await staff.paymentsNamed('E2E-005')).map(({ amount }) => amount)).toEqual([95]);
    await link.click();
    await page.waitForURL(`${staff.url}${LIST}/${staff.held.ids[5]}`);
  });

  test('works without scripts', async () => {
    const { page } = await staff.open(newPath(), { javaScriptEnabled: false });
    await fillIn(page, '1', 'E2E-006');
    await recordButton(page).click();
    await page.getByText('Another payment has this reference').waitFor();
    await fillIn(page, '1', 'PLAIN-E2E');
    await recordButton(page).click();
    await page.getByText('The payment is recorded.').waitFor();
    expect(await staff.paymentsNamed('PLAIN-E2E')).toHaveLength(1);
  });

  test('says where Stripe manages the invoice', async () => {
    const { page } = await staff.open(`${LIST}?status=completed&reference=in_1`);
    await page.locator('tbody tr').first().click();
    await page.waitForURL(/\/payments\/\d+$/);
    await page.getByRole('link', { name: 'Record payment' }).click();
    await page.getByText('Stripe manages this invoice').waitFor();
  });

  test('is refused to nobody signed in', async () => {
    const { page, complaints } = await staff.open(newPath());
    await fillIn(page, '3', 'FORGED-E2E');
    const action = await interceptAction(page, () => recordButton(page).click());
    await expectRefusedWhenSignedOut(action);
    expect(await staff.paymentsNamed('FORGED-E2E')).toEqual([]);
    await sendAction(action, staff.cookie);
    expect(await staff.paymentsNamed('FORGED-E2E')).toHaveLength(1);
    complaints.splice(0); // of the request that was held back
  });

  test('loses nothing that was typed when the session has expired', async () => {
    const { page } = await staff.open(newPath());
    await fillIn(page, '4', 'KEPT-E2E');
    await page
      .context()
      .addCookies([{ name: 'w5t.session_token', value: 'ended.signature', url: staff.url }]);
    await recordButton(page).click();
    await page.waitForURL(/\/sign-in\?next=/);
    await signIn(page);
    await page.getByText('What you typed is restored here.').waitFor();
    expect(await page.getByLabel('Amount in EUR').inputValue()).toBe('4');
    await recordButton(page).click();
    await page.waitForURL(/notice=recorded/);
    expect(await staff.paymentsNamed('KEPT-E2E')).toMatchObject([{ amount: 4 }]);
    await page.goto(`${staff.url}${newPath()}`);
    expect(await page.getByLabel('Reference').inputValue()).toBe('');
  });
});

describe('changing', () => {
  const path = (n: number) => `${LIST}/${staff.held.ids[n]}`;
  const ask = async (page: Page, name: string) => {
    await page.getByRole('button', { name, exact: true }).click();
    await page.getByRole('dialog').waitFor();
  };
  const yes = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name });
  test('a refund is asked for, noted, and in the history', async () => {
    const { page } = await staff.open(path(10));
    await ask(page, 'Mark as refunded');
    const dialog = page.getByRole('dialog', { name: 'Mark this payment as refunded?' });
    expect(await dialog.textContent()).toContain('€90.00, E2E-010');
    await yes(page, 'Mark as refunded').dblclick();
    await page.getByRole('status').filter({ hasText: 'The payment is marked as refunded.' }).waitFor();
    await page.getByText('Status: Completed → Refunded').waitFor();
    await page.getByText(`Changed by ${STAFF.email}`).waitFor();
    expect(await page.getByText('Changed by').count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Mark as refunded' }).count()).toBe(0);
    expect(await staff.read(10)).toMatchObject({ status: 'refunded' });
  });

  test('a part of a payment is refunded, and the rest later', async () => {
    const { page } = await staff.open(path(17));
    await page.getByRole('link', { name: 'Record refund' }).click();
    await page.getByText('Nothing is refunded at Stripe').waitFor();
    expect(await page.getByLabel('Amount in EUR').inputValue()).toBe('83.00');
    expect(await violationsOf(page)).toEqual([]);
    await page.getByLabel('Amount in EUR').fill('83.01');
    await page.getByRole('button', { name: 'Record refund' }).click();
    await page.getByText('Must be at most what is left of the payment: 83.00 EUR.').waitFor();
    await page.getByLabel('Amount in EUR').fill('40');
    await page.getByRole('button', { name: 'Record refund' }).click();
    await page.getByRole('status').filter({ hasText: 'The refund is recorded.' }).waitFor();
    expect(await staff.read(17)).toMatchObject({ status: 'completed', refunded_amount: 40 });
    await page.getByRole('link', { name: 'Record refund' }).click();
    await page.getByText('€43.00 of €83.00 can be refunded').waitFor();
    await page.getByRole('button', { name: 'Record refund' }).click();
    await page.getByRole('status').filter({ hasText: 'The refund is recorded.' }).waitFor();
    expect(await staff.read(17)).toMatchObject({ status: 'refunded', refunded_amount: 83 });
  });

  test('a pending payment is edited and confirmed, another one failed', async () => {
    for (const n of [18, 19]) await staff.write(n, 'PATCH', { status: 'pending' });
    const { page } = await staff.open(path(18));
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByLabel('Amount in EUR').fill('12.34');
    await page.getByLabel('Reference').fill('E2E-019');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Another payment has this reference').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.getByLabel('Reference').fill('E2E-018 mended');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('status').filter({ hasText: 'The payment is changed.' }).waitFor();
    await ask(page, 'Confirm');
    await yes(page, 'Confirm payment').click();
    await page.getByRole('status').filter({ hasText: 'The payment is confirmed.' }).waitFor();
    expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0);
    expect(await staff.read(18)).toMatchObject({
      status: 'completed',
      amount: 12.34,
      payment_reference: 'E2E-018 mended',
    });
    const { page: other } = await staff.open(path(19));
    await ask(other, 'Mark as failed');
    await yes(other, 'Mark as failed').click();
    await other.getByRole('status').filter({ hasText: 'marked as failed' }).waitFor();
    expect(await staff.read(19)).toMatchObject({ status: 'failed' });
  });

  test('a deletion names the payment; the list says that it is gone, its page what it was', async () => {
    const { page } = await staff.open(path(11));
    await ask(page, 'Delete');
    expect(await page.getByRole('dialog', { name: 'Delete this payment?' }).textContent()).toContain(
      '€89.00, E2E-011',
    );
    await yes(page, 'Delete payment').click();
    await page.waitForURL(`${staff.url}${LIST}?deleted=${staff.held.ids[11]}`);
    const notice = page
      .getByRole('status')
      .filter({ hasText: `€89.00, E2E-011, was deleted by ${STAFF.email}.` });
    await notice.getByRole('link').click();
    await page.waitForURL(staff.url + path(11));
    await page.getByText('This payment was deleted').waitFor();
    await page.getByText(`Deleted by ${STAFF.email}`).waitFor();
    await page.getByText('Payment reference: E2E-011').waitFor();
    expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0);
    expect(await staff.read(11)).toBeNull();
    await page.getByRole('link', { name: 'E2E-1', exact: true }).click();
    await page.getByText(`was deleted by ${STAFF.email}`).first().waitFor();
  });

  test.each([
    ['Mark as refunded', 'Mark as refunded', 12],
    ['Delete', 'Delete payment', 13],
  ])('%s of what changed meanwhile writes nothing and shows the new state', async (button, confirm, n) => {
    const { page } = await staff.open(path(n));
    await ask(page, button);
    expect((await staff.write(n, 'PATCH', { amount: 55.5 })).status).toBe(200);
    await yes(page, confirm).click();
    await page.getByRole('alert').filter({ hasText: 'changed meanwhile' }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.getByRole('heading', { name: '€55.50' }).waitFor();
    await page.getByText('Changed by ERP').waitFor();
    expect(await staff.read(n)).toMatchObject({
      amount: 55.5,
      status: 'completed',
    });
    await ask(page, button);
    await yes(page, confirm).click();
    await page
      .getByRole('status')
      .filter({ hasText: /refunded|deleted/ })
      .waitFor();
  });

  test('a refund of what was deleted meanwhile shows what it was', async () => {
    const { page } = await staff.open(path(14));
    await ask(page, 'Mark as refunded');
    await staff.write(14, 'DELETE');
    await yes(page, 'Mark as refunded').click();
    await page.getByRole('alert').filter({ hasText: 'was deleted meanwhile' }).waitFor();
    await page.getByText('Deleted by ERP').waitFor();
  });

  test.each([
    ['Mark as refunded', 'Mark as refunded', 15],
    ['Delete', 'Delete payment', 16],
  ])('%s is refused to nobody signed in', async (button, confirm, n) => {
    const { page, complaints } = await staff.open(path(n));
    await ask(page, button);
    const action = await interceptAction(page, () => yes(page, confirm).click());
    await expectRefusedWhenSignedOut(action);
    expect(await staff.read(n)).toMatchObject({ status: 'completed' });
    await sendAction(action, staff.cookie);
    expect((await staff.read(n))?.status).toBe(button === 'Delete' ? undefined : 'refunded');
    complaints.splice(0); // of the request that was held back
  });
});

test('everything is done with the keyboard alone', async () => {
  const { page } = await staff.open(`${LIST}?customer=K-E2E&reference=E2E-02`);
  const focused = () =>
    page.evaluate(
      () => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '',
    );
  const tabTo = async (text: string) => {
    for (let i = 0; i < 60 && !(await focused()).startsWith(text); i++) await page.keyboard.press('Tab');
    expect(await focused()).toMatch(new RegExp(`^${text}`));
  };
  await tabTo('Amount');
  await page.keyboard.press('Enter');
  await page.waitForURL(/sort=-amount$/);
  await tabTo('E2E-02');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${staff.url}${LIST}/${staff.held.ids[20]}`);
  await tabTo('Delete');
  await page.keyboard.press('Enter');
  await eventually(focused).toBe('Cancel');
  await page.keyboard.press('Escape');
  await eventually(() => page.getByRole('dialog').count()).toBe(0);
  await eventually(focused).toBe('Delete');
  await page.keyboard.press('Enter');
  await eventually(focused).toBe('Cancel');
  await tabTo('Delete payment');
  await page.keyboard.press('Enter');
  await page.waitForURL(/deleted=\d+$/);
  await eventually(focused).toContain('was deleted by');
});

async function expectRefusedWhenSignedOut(action: SentAction): Promise<void> {
  for (const cookie of [undefined, 'w5t.session_token=forged.signature']) {
    const { headers } = await sendAction(action, cookie);
    expect(headers.get('x-action-redirect')).toContain('/sign-in');
  }
}
