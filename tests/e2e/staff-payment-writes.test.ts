import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import type { PaymentRow } from '@/lib/payments/schema';
import { STAFF, TODAY } from './support/company';
import { confirm, endSession, hasFocus, press, signIn, told, use } from './support/forms';
import { violationsOf } from './support/looks';
import { interceptAction, listServerActions, postAction, sendAction } from './support/server-actions';
import { useSite } from './support/use-site';

const LIST = '/admin/payments';

const site = useSite('company');

/** Returns the id of payment n of invoice W2E-1, counted from 0. */
const id = (n: number) => site.facts.changed.ids[n];
const path = (n: number) => `${LIST}/${id(n)}`;
const api = (under: string, init: RequestInit = {}) =>
  fetch(`${site.url}/api/w5t/payments${under}`, {
    ...init,
    headers: { authorization: `Bearer ${site.facts.token}`, 'content-type': 'application/json' },
  });
const write = (n: number, method: 'PATCH' | 'DELETE', body?: object) =>
  api(`/${id(n)}`, { method, ...(body && { body: JSON.stringify(body) }) });
async function read(n: number): Promise<PaymentRow | null> {
  const answer = await api(`/${id(n)}`);
  return answer.ok ? ((await answer.json()) as PaymentRow) : null;
}
async function paymentsNamed(reference: string): Promise<PaymentRow[]> {
  return (await (await api(`?${new URLSearchParams({ payment_reference: reference })}`)).json()).data;
}

describe('recording payments', () => {
  const fillIn = async (page: Page, amount: string, reference: string) => {
    await page.getByLabel('Amount in EUR').fill(amount);
    await page.getByLabel('Reference').fill(reference);
  };
  const recordButton = (page: Page) => page.getByRole('button', { name: 'Record payment' });
  const newPath = () => `${LIST}/new?invoice=%23${site.facts.changed.invoice}`;

  test('staff can record a payment after finding its invoice by number', async () => {
    const page = await site.open(LIST);
    await page.getByRole('link', { name: 'Record payment' }).click();
    await page.waitForURL(`${site.url}${LIST}/new`);
    await page.getByRole('textbox', { name: 'Invoice' }).fill('no such number');
    await press(page, 'Find invoice');
    await page.getByText('There is no such invoice.').waitFor();
    await page.getByRole('textbox', { name: 'Invoice' }).fill('Weiß');
    await press(page, 'Find invoice');
    await page.getByRole('list', { name: 'Matching invoices' }).getByText('W2E-1').waitFor();
    await page.getByRole('textbox', { name: 'Invoice' }).fill('w2e-1');
    await press(page, 'Find invoice');
    await page.getByText('=Weiß & Söhne, K-W2E').waitFor();
    expect(await page.getByLabel('Amount in EUR').inputValue()).toBe('119.00');
    expect(await page.getByLabel('Date').inputValue()).toBe(TODAY);
    await fillIn(page, '1,119', 'CASH-W2E');
    await press(page, 'Record payment');
    await page.getByText('Can mean 1119 or 1.119: write 1119, or 1.1190.').waitFor();
    expect(await page.getByLabel('Amount in EUR').inputValue()).toBe('1,119');
    expect(await page.getByLabel('Reference').inputValue()).toBe('CASH-W2E');
    await fillIn(page, '120', 'CASH-W2E');
    await page.getByText('€1.00 more than the balance due. It is kept as a credit on the invoice.').waitFor();
    await fillIn(page, '19,5', 'CASH-W2E');
    await recordButton(page).dblclick();
    await page.waitForURL(/\/admin\/payments\/\d+\?notice=recorded$/);
    await told(page, 'The payment is recorded.');
    await page.getByText(`Created by ${STAFF.email}`).waitFor();
    const [payment, another] = await paymentsNamed('CASH-W2E');
    expect(another).toBeUndefined();
    expect(payment).toMatchObject({
      amount: 19.5,
      currency: 'eur',
      status: 'completed',
      source: 'staff',
      payment_date: TODAY,
    });
  });

  test('recording a payment with an existing reference does not overwrite the existing payment', async () => {
    const page = await site.open(newPath());
    await fillIn(page, '7', 'W2E-005');
    await press(page, 'Record payment');
    const link = page.getByRole('link', { name: '€95.00 of 10 Jan 2026' });
    await link.waitFor();
    await hasFocus(page, 'textbox', 'Reference');
    expect((await paymentsNamed('W2E-005')).map(({ amount }) => amount)).toEqual([95]);
    page.once('dialog', (dialog) => dialog.accept()); // Accept the warning that the typed values will be lost.
    await link.click();
    await page.waitForURL(`${site.url}${LIST}/${id(5)}`);
  });

  test('a payment can be recorded without JavaScript', async () => {
    const page = await site.open(newPath(), { javaScriptEnabled: false });
    await fillIn(page, '1', 'W2E-006');
    await press(page, 'Record payment');
    await page.getByText('Another payment has this reference').waitFor();
    await fillIn(page, '1', 'PLAIN-W2E');
    await press(page, 'Record payment');
    await page.getByText('The payment is recorded.').waitFor();
    expect(await paymentsNamed('PLAIN-W2E')).toHaveLength(1);
  });

  test('recording a payment is refused for an invoice that Stripe manages', async () => {
    const page = await site.open(`${LIST}?status=completed&reference=in_1`);
    await page.locator('tbody tr').first().click();
    await page.waitForURL(/\/payments\/\d+$/);
    await page.getByRole('link', { name: 'Record payment' }).click();
    await page.getByText('Stripe manages this invoice').waitFor();
  });

  test('the server action that records a payment does nothing without a session', async () => {
    const page = await site.open(newPath());
    await fillIn(page, '3', 'FORGED-W2E');
    site.allowComplaints(/ERR_FAILED|Failed to fetch/); // The browser reports the aborted request.
    const action = await interceptAction(page, () => recordButton(page).click());
    const { headers } = await sendAction(action);
    expect(headers.get('x-action-redirect')).toContain('/sign-in');
    expect(await paymentsNamed('FORGED-W2E')).toEqual([]);
    await sendAction(action, await site.cookie());
    expect(await paymentsNamed('FORGED-W2E')).toHaveLength(1);
  });

  test('a payment typed before the session expired is restored after signing in', async () => {
    const page = await site.open(newPath(), { own: true });
    await fillIn(page, '4', 'KEPT-W2E');
    await endSession(page);
    await press(page, 'Record payment');
    await page.waitForURL(/\/sign-in\?next=/);
    await signIn(page);
    await page.getByText('What you typed is restored here.').waitFor();
    expect(await page.getByLabel('Amount in EUR').inputValue()).toBe('4');
    await press(page, 'Record payment');
    await page.waitForURL(/notice=recorded/);
    expect(await paymentsNamed('KEPT-W2E')).toMatchObject([{ amount: 4 }]);
    await page.goto(`${site.url}${newPath()}`);
    expect(await page.getByLabel('Reference').inputValue()).toBe('');
  });
});

describe('changing payments', () => {
  const ask = async (page: Page, name: string) => {
    await press(page, name);
    await page.getByRole('dialog').waitFor();
  };
  const yes = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name });
  test('a double click on the refund confirmation marks the payment as refunded once', async () => {
    const page = await site.open(path(10));
    await ask(page, 'Mark as refunded');
    const dialog = page.getByRole('dialog', { name: 'Mark this payment as refunded?' });
    expect(await dialog.textContent()).toContain('€90.00, W2E-010');
    await yes(page, 'Mark as refunded').dblclick();
    await told(page, 'The payment is marked as refunded.');
    await page.getByText('Status: Completed → Refunded').waitFor();
    await page.getByText(`Changed by ${STAFF.email}`).waitFor();
    expect(await page.getByText('Changed by').count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Mark as refunded', includeHidden: true }).count()).toBe(0);
    expect(await read(10)).toMatchObject({ status: 'refunded' });
  });

  test('a payment can be refunded in two parts', async () => {
    const page = await site.open(path(17));
    await page.getByRole('link', { name: 'Record refund' }).click();
    await page.getByText('Nothing is refunded at Stripe').waitFor();
    expect(await page.getByLabel('Amount in EUR').inputValue()).toBe('83.00');
    expect(await violationsOf(page)).toEqual([]);
    await page.getByLabel('Amount in EUR').fill('83.01');
    await press(page, 'Record refund');
    await page.getByText('Must be at most what is left of the payment: 83.00 EUR.').waitFor();
    await page.getByLabel('Amount in EUR').fill('40');
    const foretold = await page
      .getByRole('status')
      .filter({ hasText: 'The balance due of invoice' })
      .textContent();
    expect(foretold).toMatch(/^The balance due of invoice W2E-1 will be €[\d,]+\.\d\d\.$/);
    await press(page, 'Record refund');
    await told(page, 'The refund is recorded.');
    const owed = /will be (.*)\.$/.exec(foretold ?? '')?.[1] ?? '';
    await page.locator('dt:text-is("Due") + dd').filter({ hasText: owed }).waitFor();
    expect(await read(17)).toMatchObject({ status: 'completed', refunded_amount: 40 });
    await page.getByRole('link', { name: 'Record refund' }).click();
    await page.getByText('€43.00 of €83.00 can be refunded').waitFor();
    await press(page, 'Record refund');
    await told(page, 'The refund is recorded.');
    expect(await read(17)).toMatchObject({ status: 'refunded', refunded_amount: 83 });
  });

  test('staff can correct and confirm a pending payment', async () => {
    for (const n of [18, 19]) await write(n, 'PATCH', { status: 'pending' });
    const page = await site.open(path(18));
    await use(page, 'link', 'Correct');
    await page.getByLabel('Amount in EUR').fill('12.34');
    await page.getByLabel('Reference').fill('W2E-019');
    await press(page, 'Save');
    await page.getByText('Another payment has this reference').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.getByLabel('Reference').fill('W2E-018 mended');
    await press(page, 'Save');
    await told(page, 'The payment is corrected.');
    await confirm(page, 'Confirm', 'Confirm payment');
    await told(page, 'The payment is confirmed.');
    expect(await read(18)).toMatchObject({
      status: 'completed',
      amount: 12.34,
      payment_reference: 'W2E-018 mended',
    });
    const other = await site.open(path(19));
    await confirm(other, 'Mark as failed');
    await told(other, 'marked as failed');
    expect(await read(19)).toMatchObject({ status: 'failed' });
  });

  test('the history of a corrected payment shows its old values', async () => {
    const page = await site.open(path(9));
    await use(page, 'link', 'Correct');
    expect(await page.getByLabel('Invoice').inputValue()).toBe('W2E-1');
    await page.getByLabel('Invoice').fill('no such');
    await press(page, 'Save');
    await page.getByText('There is no such invoice.').waitFor();
    await page.getByLabel('Invoice').fill('W2E-1');
    await page.getByLabel('Date').fill('2099-01-01');
    await press(page, 'Save');
    await page.getByText('Must not be in the future unless the payment is pending.').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.getByLabel('Date').fill('2026-01-02');
    await page.getByLabel('Reference').fill('W2E-009 corrected');
    await press(page, 'Save');
    await told(page, 'The payment is corrected.');
    await page.getByText('Payment reference: W2E-009 → W2E-009 corrected').waitFor();
    expect(await page.getByText('Version:').count()).toBe(0);
    expect(await read(9)).toMatchObject({ status: 'completed', payment_date: '2026-01-02' });
  });

  test('a forged request cannot mark a pending payment as refunded', async () => {
    const etag = (await write(8, 'PATCH', { status: 'pending' })).headers.get('etag');
    const decide = listServerActions('1').find(({ name }) => name === 'app/admin/payments/actions.ts#decide');
    if (!decide) throw new Error('decide is not built');
    const call = async (status: string) =>
      (await postAction(site.url, decide, [id(8), etag, status], { cookie: await site.cookie() })).status;
    expect([await call('refunded'), await call('pending')]).toEqual([404, 404]);
    expect(await read(8)).toMatchObject({ status: 'pending', refunded_amount: 0 });
    await call('failed');
    expect(await read(8)).toMatchObject({ status: 'failed' });
  });

  test('the page of a deleted payment shows its last state and who deleted it', async () => {
    const page = await site.open(path(11));
    await ask(page, 'Delete');
    expect(await page.getByRole('dialog', { name: 'Delete this payment?' }).textContent()).toContain(
      '€89.00, W2E-011',
    );
    await yes(page, 'Delete payment').click();
    await page.waitForURL(`${site.url}${LIST}?deleted=${id(11)}`);
    const notice = page
      .getByRole('status')
      .filter({ hasText: `€89.00, W2E-011, was deleted by ${STAFF.email}.` });
    await notice.getByRole('link').click();
    await page.waitForURL(site.url + path(11));
    await page.getByText('This payment was deleted').waitFor();
    await page.getByText(`Deleted by ${STAFF.email}`).waitFor();
    await page.getByText('Payment reference: W2E-011').waitFor();
    expect(await page.getByRole('button', { name: 'Delete', includeHidden: true }).count()).toBe(0);
    expect(await read(11)).toBeNull();
    await page.getByRole('link', { name: 'W2E-1', exact: true }).click();
    await page.getByText(`was deleted by ${STAFF.email}`).first().waitFor();
  });

  test.each([
    ['Mark as refunded', 'Mark as refunded', 12],
    ['Delete', 'Delete payment', 13],
  ])('the button “%s” on an outdated payment page changes nothing', async (button, confirm, n) => {
    const page = await site.open(path(n));
    await ask(page, button);
    expect((await write(n, 'PATCH', { amount: 55.5 })).status).toBe(200);
    await yes(page, confirm).click();
    await page.getByRole('alert').filter({ hasText: 'changed in the meantime' }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.getByRole('heading', { name: '€55.50' }).waitFor();
    await page.getByText('Changed by ERP').waitFor();
    expect(await read(n)).toMatchObject({
      amount: 55.5,
      status: 'completed',
    });
    await ask(page, button);
    await yes(page, confirm).click();
    await told(page, /refunded|deleted/);
  });

  test('refunding a payment that was deleted meanwhile shows who deleted it', async () => {
    const page = await site.open(path(14));
    await ask(page, 'Mark as refunded');
    await write(14, 'DELETE');
    await yes(page, 'Mark as refunded').click();
    await page.getByRole('alert').filter({ hasText: 'was deleted in the meantime' }).waitFor();
    await page.getByText('Deleted by ERP').waitFor();
  });
});

test('payments can be sorted, opened and deleted by keyboard alone', async () => {
  const page = await site.open(`${LIST}?customer=K-W2E&reference=W2E-02`);
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
  await tabTo('W2E-02');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${site.url}${LIST}/${id(20)}`);
  const pressDelete = async () => {
    await tabTo('More');
    await page.keyboard.press('Enter');
    await tabTo('Delete');
    await page.keyboard.press('Enter');
    await expect.poll(focused).toBe('Cancel');
  };
  await pressDelete();
  await page.keyboard.press('Escape');
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  await expect.poll(focused).toBe('More');
  await pressDelete();
  await tabTo('Delete payment');
  await page.keyboard.press('Enter');
  await page.waitForURL(/deleted=\d+$/);
  await expect.poll(focused).toContain('was deleted by');
});
