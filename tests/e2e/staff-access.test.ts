import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { visit } from './support/browser';
import { ADMIN, STAFF } from './support/company';
import { confirm, press, signIn, told } from './support/forms';
import { useSite } from './support/use-site';

const site = useSite('company', { as: ADMIN });

const payments = (token: string) =>
  fetch(`${site.url}/api/w5t/payments?per_page=1`, { headers: { authorization: `Bearer ${token}` } });
describe('pages for access tokens', () => {
  test('an issued access token is valid until it is revoked', async () => {
    const page = await site.open('/admin/tokens', { own: true });
    await page.getByRole('link', { name: 'Issue token' }).click();
    await page.getByLabel('Name').fill('Shop <b>');
    await page.getByLabel('payments:read').check();
    await press(page, 'Issue token');
    await told(page, 'The token Shop <b> is valid now.');
    await page.getByText('it is shown only once').waitFor();
    const token = (await page.getByText(/^w5t_[\w-]{43}$/).textContent()) ?? '';
    expect(page.url()).toBe(`${site.url}/admin/tokens/new`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await press(page, 'Copy token');
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(token);
    expect((await payments(token)).status).toBe(200);
    expect(
      (await fetch(`${site.url}/mcp`, { method: 'POST', headers: { authorization: `Bearer ${token}` } }))
        .status,
    ).toBe(403);

    await page.getByRole('link', { name: 'Done' }).click();
    const row = page.locator('tbody tr').filter({ hasText: 'Shop <b>' });
    expect(await row.textContent()).toMatch(/Valid.*payments:read.*root@example\.com/);
    await row.click();
    await page.getByText('Created by root@example.com').waitFor();
    await confirm(page, 'Revoke', 'Revoke token');
    await told(page, 'The token is revoked');
    await page.getByText('Revoked by root@example.com').waitFor();
    expect(await page.getByRole('button', { name: 'Revoke', exact: true }).count()).toBe(0);
    expect((await payments(token)).status).toBe(401);
    for (const path of ['/admin/tokens', '/admin/tokens/new']) {
      await visit(page, site.url + path);
      expect(await page.content()).not.toContain(token);
    }
    expect(site.log()).not.toContain(token);
  });

  test('the token form keeps the typed values when a field is invalid', async () => {
    const page = await site.open('/admin/tokens/new');
    await page.getByLabel('Name').fill('Import');
    await page.getByLabel('Expires').selectOption('365');
    await press(page, 'Issue token');
    await page.getByText('Choose at least one.').waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('Import');
    expect(await page.getByLabel('Expires').inputValue()).toBe('365');
    await page.getByLabel('mcp:read').check();
    await page.getByLabel('Expires').selectOption('date');
    await page.getByLabel('Last day').fill('2999-01-01');
    await press(page, 'Issue token');
    await page.getByText('Must be within ten years.').waitFor();
    expect(await page.getByLabel('mcp:read').isChecked()).toBe(true);
    expect(await page.getByLabel('Expires').inputValue()).toBe('date');
    expect(await page.getByLabel('Last day').inputValue()).toBe('2999-01-01');
  });
});

describe('pages for staff', () => {
  const add = async (page: Page, email: string, name: string) => {
    await visit(page, `${site.url}/admin/staff/new`);
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.getByLabel('With a first password').check();
    await press(page, 'Add person');
    await told(page, `${email} can sign in now.`);
    return (await page.locator('pre').textContent()) ?? '';
  };

  test('an admin can add a person, reset the password and remove the person', async () => {
    const page = await site.open('/admin/staff');
    await page.getByRole('link', { name: 'Add person' }).click();
    const password = await add(page, 'ada@example.com', 'Ada Lovelace');
    expect(password).toMatch(/^[\w-]{20}$/);
    const hers = await site.open('/sign-in', { as: null });
    await signIn(hers, 'ada@example.com', password);
    await hers.waitForURL(/\/sign-in\/due\?/);

    await page.getByRole('link', { name: 'Done' }).click();
    const row = page.locator('tbody tr').filter({ hasText: 'Ada Lovelace' });
    expect(await row.textContent()).toMatch(/ada@example\.com.*Staff.*1 session/);
    await row.click();
    await page.getByRole('link', { name: 'Reset password' }).click();
    await press(page, 'Reset password');
    await told(page, 'ada@example.com has a new password and is signed out.');
    const changed = (await page.locator('pre').textContent()) ?? '';
    await hers.reload();
    await hers.waitForURL(/\/sign-in\?next=/);
    await signIn(hers, 'ada@example.com', password);
    await hers.getByText('The e-mail address or the password is wrong.').waitFor();
    await signIn(hers, 'ada@example.com', changed);
    await hers.waitForURL(/\/sign-in\/due\?/);

    await page.getByRole('link', { name: 'Done' }).click();
    await page.getByText('Password reset by root@example.com').waitFor();
    await confirm(page, 'Sign out everywhere', 'Sign out');
    await told(page, 'All sessions have ended.');
    await hers.reload();
    await hers.waitForURL(/\/sign-in\?next=/);
    await confirm(page, 'Remove', 'Remove person');
    await told(page, 'The person is removed and signed out.');
    expect(await row.count()).toBe(0);
    await signIn(hers, 'ada@example.com', changed);
    await hers.getByText('The e-mail address or the password is wrong.').waitFor();
    for (const secret of [password, changed]) expect(site.log()).not.toContain(secret);
  });

  test('a role change of a staff user takes effect with the user’s next request', async () => {
    const page = await site.open('/admin/staff');
    const password = await add(page, 'alan@example.com', 'Alan Turing');
    const hers = await site.open('/sign-in', { as: null });
    await signIn(hers, 'alan@example.com', password);
    await hers.getByLabel('Current password').fill(password);
    await hers.getByLabel('New password', { exact: true }).fill(ADMIN.password);
    await hers.getByLabel('New password again').fill(ADMIN.password);
    await hers.getByRole('button', { name: 'Change password' }).click();
    await hers.waitForURL(`${site.url}/admin`);
    await page.getByRole('link', { name: 'Done' }).click();
    await page.locator('tbody tr').filter({ hasText: 'Alan Turing' }).click();
    await confirm(page, 'Make admin', 'Make admin');
    await told(page, 'The role is changed');
    await page.getByText('Role: Staff → Admin').waitFor();
    await visit(hers, `${site.url}/admin/tokens/new`);
    await hers.getByLabel('Name').fill('Too late');
    await hers.getByLabel('mcp:read').check();
    await confirm(page, 'Remove admin role', 'Remove admin role');
    await page.getByText('Role: Admin → Staff').waitFor();
    await hers.getByRole('button', { name: 'Issue token' }).click();
    await hers.getByRole('heading', { name: 'For admins only' }).waitFor();
    site.allowComplaints(/403/);
    await visit(page, `${site.url}/admin/tokens`);
    expect(await page.getByText('Too late').count()).toBe(0);
  });

  test('the staff page does not let admins remove or demote themselves', async () => {
    const page = await site.open('/admin/staff');
    await page.locator('tbody tr').filter({ hasText: '(you)' }).click();
    await page.getByRole('heading', { name: ADMIN.name }).waitFor();
    await page.getByRole('link', { name: 'Reset password' }).waitFor();
    expect(
      await page.getByRole('button', { name: /^(Remove|Remove admin role)$/, includeHidden: true }).count(),
    ).toBe(0);
  });

  test('adding a staff user is refused if the e-mail address already has a login', async () => {
    const page = await site.open('/admin/staff/new');
    await page.getByLabel('E-mail').fill(STAFF.email);
    await page.getByLabel('Admin').check();
    await press(page, 'Add person');
    await page.getByText(`${STAFF.email} has a login already`).waitFor();
    expect(await page.getByLabel('Admin').isChecked()).toBe(true);
    await page.getByLabel('E-mail').fill('new@example.com');
    await page.getByLabel('With a first password').check();
    await page.getByLabel('Password', { exact: true }).fill('eleven char');
    await press(page, 'Add person');
    await page.getByText('Must have 12 to 128 characters.').waitFor();
  });
});

describe('pages without admin rights', () => {
  test('staff without admin rights cannot open the pages for admins', async () => {
    const page = await site.open('/admin/connect', { as: STAFF });
    await page.getByText('Ask an admin for an access token').waitFor();
    const entries = await page.getByRole('navigation', { name: 'Main' }).getByRole('link').allTextContents();
    expect(entries).toContain('Payments');
    for (const label of ['Access tokens', 'Staff']) expect(entries).not.toContain(label);
    for (const path of ['/admin/tokens', '/admin/staff', '/admin/tokens/new']) {
      expect((await page.goto(site.url + path))?.status()).toBe(403);
      await page.getByRole('heading', { name: 'For admins only' }).waitFor();
    }
    await page.getByRole('link', { name: 'Go to the overview' }).click();
    await page.waitForURL(`${site.url}/admin`);
    site.allowComplaints(/403/);
  });
});

test('the accessible name of the account button contains its visible text', async () => {
  const page = await site.open('/admin');
  const button = page.getByRole('button', { name: `Account of ${ADMIN.name} ${ADMIN.email}` });
  expect(await button.getAttribute('aria-label')).toBeNull();
});
