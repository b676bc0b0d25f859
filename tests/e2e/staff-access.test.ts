import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { visit } from './support/browser';
import { ADMIN, STAFF } from './support/company';
import {
  confirm,
  fill,
  follow,
  link,
  press,
  pressAndSee,
  rows,
  see,
  signIn,
  valuesOf,
} from './support/forms';
import { useSite } from './support/use-site';

const site = useSite('company', { as: ADMIN });

const request = async (path: string, token: string, method = 'GET') =>
  (await fetch(site.url + path, { method, headers: { authorization: `Bearer ${token}` } })).status;
const payments = (token: string) => request('/api/w5t/payments?per_page=1', token);

test('an issued access token is shown only once, and is valid for its scopes until it is revoked', async () => {
  const page = await site.open('/admin/tokens', { own: true });
  await link(page, 'Issue token').click();
  await fill(page, { Name: 'Shop <b>' });
  await page.getByLabel('payments:read').check();
  await press(page, 'Issue token', 'The token Shop <b> is valid now.');
  await see(page, 'it is shown only once');
  const token = (await page.getByText(/^w5t_[\w-]{43}$/).textContent()) ?? '';
  expect(page.url()).toBe(`${site.url}/admin/tokens/new`);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await press(page, 'Copy token');
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(token);
  expect([await payments(token), await request('/mcp', token, 'POST')]).toEqual([200, 403]);

  await link(page, 'Done').click();
  const row = rows(page).filter({ hasText: 'Shop <b>' });
  expect(await row.textContent()).toMatch(/Valid.*payments:read.*root@example\.com/);
  await row.click();
  await see(page, 'Created by root@example.com');
  await confirm(page, ['Revoke', 'Revoke token'], 'The token is revoked');
  await see(page, 'Revoked by root@example.com');
  expect(await page.getByRole('button', { name: 'Revoke', exact: true }).count()).toBe(0);
  expect(await payments(token)).toBe(401);
  for (const path of ['/admin/tokens', '/admin/tokens/new']) {
    await visit(page, site.url + path);
    expect(await page.content()).not.toContain(token);
  }
  expect(site.log()).not.toContain(token);
});

test('the token form keeps the typed values when a field is invalid', async () => {
  const page = await site.open('/admin/tokens/new');
  const expires = page.getByLabel('Expires');
  await fill(page, { Name: 'Import' });
  await expires.selectOption('365');
  await pressAndSee(page, 'Issue token', 'Choose at least one.');
  expect(await valuesOf(page, 'Name', 'Expires')).toEqual(['Import', '365']);
  await page.getByLabel('mcp:read').check();
  await expires.selectOption('date');
  await page.getByLabel('Last day').fill('2999-01-01');
  await pressAndSee(page, 'Issue token', 'Must be within ten years.');
  expect(await page.getByLabel('mcp:read').isChecked()).toBe(true);
  expect(await valuesOf(page, 'Expires', 'Last day')).toEqual(['date', '2999-01-01']);
});

describe('pages for staff', () => {
  /** Adds a person with a first password. @returns the password, and the page of the person after signing in with it */
  async function add(page: Page, email: string, name: string) {
    await follow(page, 'Add person', `${site.url}/admin/staff/new`);
    await fill(page, { 'E-mail': email, Name: name });
    await page.getByLabel('With a first password').check();
    await press(page, 'Add person', `${email} can sign in now.`);
    const password = (await page.locator('pre').textContent()) ?? '';
    expect(password).toMatch(/^[\w-]{20}$/);
    const hers = await site.open('/sign-in', { as: null });
    await signIn(hers, email, password);
    await hers.waitForURL(/\/sign-in\/due\?/);
    await link(page, 'Done').click();
    return { password, hers };
  }
  const WRONG = 'The e-mail address or the password is wrong.';

  test('an admin can add a person, reset the password, end the sessions and remove the person', async () => {
    const page = await site.open('/admin/staff');
    const email = 'ada@example.com';
    const { password, hers } = await add(page, email, 'Ada Lovelace');
    const row = rows(page).filter({ hasText: 'Ada Lovelace' });
    expect(await row.textContent()).toMatch(/ada@example\.com.*Staff.*1 session/);
    await row.click();
    await link(page, 'Reset password').click();
    await press(page, 'Reset password', `${email} has a new password and is signed out.`);
    const changed = (await page.locator('pre').textContent()) ?? '';
    await hers.reload();
    await hers.waitForURL(/\/sign-in\?next=/);
    await signIn(hers, email, password);
    await see(hers, WRONG);
    await signIn(hers, email, changed);
    await hers.waitForURL(/\/sign-in\/due\?/);

    await link(page, 'Done').click();
    await see(page, 'Password reset by root@example.com');
    await confirm(page, ['Sign out everywhere', 'Sign out'], 'All sessions have ended.');
    await hers.reload();
    await hers.waitForURL(/\/sign-in\?next=/);
    await confirm(page, ['Remove', 'Remove person'], 'The person is removed and signed out.');
    expect(await row.count()).toBe(0);
    await signIn(hers, email, changed);
    await see(hers, WRONG);
    for (const secret of [password, changed]) expect(site.log()).not.toContain(secret);
  });

  test('a new staff user gets to the requested page after changing the password, and a role change takes effect at once', async () => {
    const page = await site.open('/admin/staff');
    const { password, hers } = await add(page, 'alan@example.com', 'Alan Turing');
    const asked = `${site.url}/admin/payments?status=completed`;
    await hers.goto(asked);
    const chosen = { 'New password': ADMIN.password, 'New password again': ADMIN.password };
    await fill(hers, { 'Current password': password, ...chosen });
    await press(hers, 'Change password');
    await hers.waitForURL(asked);
    await rows(page).filter({ hasText: 'Alan Turing' }).click();
    await confirm(page, 'Make admin', 'The role is changed');
    await see(page, 'Role: Staff → Admin');
    await visit(hers, `${site.url}/admin/tokens/new`);
    await fill(hers, { Name: 'Too late' });
    await hers.getByLabel('mcp:read').check();
    await confirm(page, 'Remove admin role');
    await see(page, 'Role: Admin → Staff');
    await press(hers, 'Issue token');
    await hers.getByRole('heading', { name: 'For admins only' }).waitFor();
    site.allowComplaints(/403/);
    await visit(page, `${site.url}/admin/tokens`);
    expect(await page.getByText('Too late').count()).toBe(0);
  });

  test('admins see no buttons to remove or demote themselves', async () => {
    const page = await site.open('/admin/staff');
    await rows(page).filter({ hasText: '(you)' }).click();
    await page.getByRole('heading', { name: ADMIN.name }).waitFor();
    await link(page, 'Reset password').waitFor();
    const changes = page.getByRole('button', { name: /^(Remove|Remove admin role)$/, includeHidden: true });
    expect(await changes.count()).toBe(0);
  });

  test('adding a staff user is refused if the e-mail address already has a login or the password is short', async () => {
    const page = await site.open('/admin/staff/new');
    await fill(page, { 'E-mail': STAFF.email });
    await page.getByLabel('Admin').check();
    await pressAndSee(page, 'Add person', `${STAFF.email} has a login already`);
    expect(await page.getByLabel('Admin').isChecked()).toBe(true);
    await page.getByLabel('With a first password').check();
    await fill(page, { 'E-mail': 'new@example.com', Password: 'eleven char' });
    await pressAndSee(page, 'Add person', 'Must have 12 to 128 characters.');
  });
});

test('staff without admin rights are told to ask an admin for access tokens, and get 403 on the token page', async () => {
  const page = await site.open('/admin/connect', { as: STAFF });
  await see(page, 'Ask an admin for an access token');
  expect((await page.goto(`${site.url}/admin/tokens`))?.status()).toBe(403);
  await page.getByRole('heading', { name: 'For admins only' }).waitFor();
  await follow(page, 'Go to the overview', `${site.url}/admin`);
  site.allowComplaints(/403/);
});

test('the accessible name of the account button contains its visible text', async () => {
  const page = await site.open('/admin');
  const button = page.getByRole('button', { name: `Account of ${ADMIN.name} ${ADMIN.email}` });
  expect(await button.getAttribute('aria-label')).toBeNull();
});
