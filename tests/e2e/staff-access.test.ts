import type { Page } from 'playwright';
import { beforeAll, describe, expect, test } from 'vitest';
import { createCustomer, createInvoice, createService } from '../support/factories';
import { visit } from './support/browser';
import { ADMIN, fillAdmin, STAFF } from './support/company';
import { openSession, type Session, signIn } from './support/staff';
import { useStaffPages } from './support/staff-pages';
import { violationsOf } from './support/violations';

let staff: Session;
let gone: { customer_id: number; service_id: number };
let old: string;
const site = useStaffPages({
  who: ADMIN,
  async fill(db) {
    await fillAdmin(db);
    const { id: customer_id } = await createCustomer(db, { customer_number: 'K-GONE', company: 'Gone & Co' });
    const { id: service_id } = await createService(db, { customer_id, service_number: 'S-GONE' });
    await createInvoice(db, { customer_id, number: 'GONE-1', status: 'paid', amount_due: '0' });
    gone = { customer_id, service_id };
    const twice = { company: 'Doppelt GmbH', email: 'twice@example.com' };
    const { id } = await createCustomer(db, { ...twice, customer_number: 'K-OLD', phone: '+43 1 2345' });
    await createService(db, { customer_id: id, service_number: 'S-OLD', name: 'Moved hosting' });
    await createCustomer(db, { ...twice, customer_number: 'K-NEW', city: 'Wien' });
    old = `/admin/customers/${id}`;
  },
});
beforeAll(async () => {
  staff = await openSession(site.browser, site.url);
});

/** A page on which nobody is signed in yet. */
const openSignIn = () => site.open('/sign-in', {}, { state: { cookies: [], origins: [] }, cookie: '' });
const payments = (token: string) =>
  fetch(`${site.url}/api/w5t/payments?per_page=1`, { headers: { authorization: `Bearer ${token}` } });
const says = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text }).waitFor();
const confirm = async (page: Page, button: string, answer: string) => {
  await page.getByRole('button', { name: button, exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: answer, exact: true }).click();
};

describe('access tokens', () => {
  test('a token is issued, shown once, used, revoked, and refused', async () => {
    const { page } = await site.open('/admin/tokens');
    await page.getByRole('link', { name: 'Issue token' }).click();
    await page.getByLabel('Name').fill('Shop <b>');
    await page.getByLabel('payments:read').check();
    await page.getByRole('button', { name: 'Issue token' }).click();
    await says(page, 'The token Shop <b> is valid now.');
    await page.getByText('it is shown only once').waitFor();
    const token = (await page.getByText(/^w5t_[\w-]{43}$/).textContent()) ?? '';
    expect(page.url()).toBe(`${site.url}/admin/tokens/new`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy token' }).click();
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
    await says(page, 'The token is revoked');
    await page.getByText('Revoked by root@example.com').waitFor();
    expect(await page.getByRole('button', { name: 'Revoke', exact: true }).count()).toBe(0);
    expect((await payments(token)).status).toBe(401);
    for (const path of ['/admin/tokens', '/admin/tokens/new']) {
      await visit(page, site.url + path);
      expect(await page.content()).not.toContain(token);
    }
    expect(site.log()).not.toContain(token);
  });

  test('what is missing or wrong is named, and what was typed stays', async () => {
    const { page } = await site.open('/admin/tokens/new');
    await page.getByLabel('Name').fill('Import');
    await page.getByLabel('Expires').selectOption('365');
    await page.getByRole('button', { name: 'Issue token' }).click();
    await page.getByText('Choose at least one.').waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('Import');
    expect(await page.getByLabel('Expires').inputValue()).toBe('365');
    await page.getByLabel('mcp:read').check();
    await page.getByLabel('Expires').selectOption('date');
    await page.getByLabel('Last day').fill('2999-01-01');
    await page.getByRole('button', { name: 'Issue token' }).click();
    await page.getByText('Must be within ten years.').waitFor();
    expect(await page.getByLabel('mcp:read').isChecked()).toBe(true);
    expect(await page.getByLabel('Expires').inputValue()).toBe('date');
    expect(await page.getByLabel('Last day').inputValue()).toBe('2999-01-01');
  });
});

describe('staff', () => {
  const add = async (page: Page, email: string, name: string) => {
    await visit(page, `${site.url}/admin/staff/new`);
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.getByLabel('With a first password').check();
    await page.getByRole('button', { name: 'Add person' }).click();
    await says(page, `${email} can sign in now.`);
    return (await page.locator('pre').textContent()) ?? '';
  };

  test('a person is added, signs in, gets a new password and is signed out by it, and is removed', async () => {
    const { page } = await site.open('/admin/staff');
    await page.getByRole('link', { name: 'Add person' }).click();
    const password = await add(page, 'ada@example.com', 'Ada Lovelace');
    expect(password).toMatch(/^[\w-]{20}$/);
    const { page: hers } = await openSignIn();
    await signIn(hers, 'ada@example.com', password);
    await hers.waitForURL(/\/sign-in\/due\?/);

    await page.getByRole('link', { name: 'Done' }).click();
    const row = page.locator('tbody tr').filter({ hasText: 'Ada Lovelace' });
    expect(await row.textContent()).toMatch(/ada@example\.com.*Staff.*1 session/);
    await row.click();
    await page.getByRole('link', { name: 'Reset password' }).click();
    await page.getByRole('button', { name: 'Reset password' }).click();
    await says(page, 'ada@example.com has a new password and is signed out.');
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
    await says(page, 'All sessions have ended.');
    await hers.reload();
    await hers.waitForURL(/\/sign-in\?next=/);
    await confirm(page, 'Remove', 'Remove person');
    await says(page, 'The person is removed and signed out.');
    expect(await row.count()).toBe(0);
    await signIn(hers, 'ada@example.com', changed);
    await hers.getByText('The e-mail address or the password is wrong.').waitFor();
    for (const secret of [password, changed]) expect(site.log()).not.toContain(secret);
  });

  test('a role counts from the next request on', async () => {
    const { page } = await site.open('/admin/staff');
    const password = await add(page, 'mary@example.com', 'Mary Jackson');
    const { page: hers, complaints } = await openSignIn();
    await signIn(hers, 'mary@example.com', password);
    await hers.getByLabel('Current password').fill(password);
    await hers.getByLabel('New password', { exact: true }).fill(ADMIN.password);
    await hers.getByLabel('New password again').fill(ADMIN.password);
    await hers.getByRole('button', { name: 'Change password' }).click();
    await hers.waitForURL(`${site.url}/admin`);
    await page.getByRole('link', { name: 'Done' }).click();
    await page.locator('tbody tr').filter({ hasText: 'Mary Jackson' }).click();
    await confirm(page, 'Make admin', 'Make admin');
    await says(page, 'The role is changed');
    await page.getByText('Role: Staff → Admin').waitFor();
    await visit(hers, `${site.url}/admin/tokens/new`);
    await hers.getByLabel('Name').fill('Too late');
    await hers.getByLabel('mcp:read').check();
    await confirm(page, 'Remove admin role', 'Remove admin role');
    await page.getByText('Role: Admin → Staff').waitFor();
    await hers.getByRole('button', { name: 'Issue token' }).click();
    await hers.getByRole('heading', { name: 'For admins only' }).waitFor();
    complaints.splice(0); // the browser reports the 403 itself
    await visit(page, `${site.url}/admin/tokens`);
    expect(await page.getByText('Too late').count()).toBe(0);
  });

  test('nobody is offered to remove or demote themselves', async () => {
    const { page } = await site.open('/admin/staff');
    await page.locator('tbody tr').filter({ hasText: '(you)' }).click();
    await page.getByRole('heading', { name: ADMIN.name }).waitFor();
    await page.getByRole('link', { name: 'Reset password' }).waitFor();
    expect(await page.getByRole('button', { name: /^(Remove|Remove admin role)$/ }).count()).toBe(0);
  });

  test('an address that has a login and a password that is too short are named', async () => {
    const { page } = await site.open('/admin/staff/new');
    await page.getByLabel('E-mail').fill(STAFF.email);
    await page.getByLabel('Admin').check();
    await page.getByRole('button', { name: 'Add person' }).click();
    await page.getByText(`${STAFF.email} has a login already`).waitFor();
    expect(await page.getByLabel('Admin').isChecked()).toBe(true);
    await page.getByLabel('E-mail').fill('new@example.com');
    await page.getByLabel('With a first password').check();
    await page.getByLabel('Password', { exact: true }).fill('eleven char');
    await page.getByRole('button', { name: 'Add person' }).click();
    await page.getByText('Must have 12 to 128 characters.').waitFor();
  });
});

describe('merging customers', () => {
  test('plain staff are not offered it', async () => {
    const { page } = await site.open(old, {}, staff);
    await page.getByRole('link', { name: 'Edit' }).waitFor();
    expect(await page.getByRole('link', { name: /^Merge/ }).count()).toBe(0);
  });

  test('two are compared, become one, and the page and the number of the other lead to it', async () => {
    const { page } = await site.open(old);
    await page.getByRole('link', { name: 'Merge with another customer…' }).click();
    await page.getByLabel('Customer', { exact: true }).fill('twice@example');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.getByRole('link', { name: 'Choose K-NEW' }).click();
    await page.getByRole('heading', { name: 'Merge K-NEW into K-OLD?' }).waitFor();
    await page.getByRole('link', { name: 'Keep K-NEW instead' }).click();
    await page.getByRole('heading', { name: 'Merge K-OLD into K-NEW?' }).waitFor();
    await page.getByText('These move from K-OLD to K-NEW: 1 service.').waitFor();
    await page.getByText('This cannot be undone.').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.getByLabel('Phone: +43 1 2345 instead of nothing').check();
    await page.getByRole('button', { name: 'Merge K-OLD into K-NEW' }).click();
    await says(page, 'The customers are merged');
    const merged = page.url().replace(/\?.*/, '');
    expect(merged).not.toBe(site.url + old);
    await page.getByText('+43 1 2345').first().waitFor();
    await page.getByText('Moved hosting').first().waitFor();
    await page.getByText('Merged customer: – → K-OLD').waitFor();

    await visit(page, site.url + old);
    await says(page, 'The customer that you opened was merged into this one.');
    expect(page.url().replace(/\?.*/, '')).toBe(merged);
    await visit(page, `${site.url}/admin/search?q=k-old`);
    expect(page.url()).toBe(merged);
  });
});

describe('plain staff', () => {
  test('see neither page nor entry, and are told whom to ask', async () => {
    const { page, complaints } = await site.open('/admin/connect', {}, staff);
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
    complaints.splice(0); // the browser reports each 403 itself
  });

  test('admins see both entries, and where a token comes from', async () => {
    const { page } = await site.open('/admin/connect');
    await page.getByRole('main').getByRole('link', { name: 'Access tokens' }).click();
    await page.waitForURL(`${site.url}/admin/tokens`);
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Staff' }).click();
    await page.waitForURL(`${site.url}/admin/staff`);
  });
});

describe('erasing a customer', () => {
  test('is for admins, waits for what is open, asks for the number, and leaves the books', async () => {
    const path = `/admin/customers/${gone.customer_id}`;
    const plain = (await site.open(path, {}, staff)).page;
    expect(await plain.getByRole('link', { name: 'Erase…' }).count()).toBe(0);

    const { page } = await site.open(path);
    await page.getByRole('link', { name: 'Erase…' }).click();
    await page.getByText('K-GONE cannot be erased yet: 1 service has not ended (S-GONE).').waitFor();
    await visit(page, `${site.url}/admin/services/${gone.service_id}`);
    await confirm(page, 'Cancel service', 'Cancel service');
    await says(page, 'The service is cancelled.');

    await visit(page, `${site.url}${path}/erase`);
    await page.getByText(/The law requires you to keep invoices/).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    const number = page.getByLabel('Customer number');
    await number.fill('K-OTHER');
    await page.keyboard.press('Enter');
    await page.getByText('This is not the number of this customer: type K-GONE.').waitFor();
    await number.fill('k-gone');
    await page.getByRole('button', { name: 'Erase customer' }).click();
    await says(page, 'The customer is erased.');
    await page.getByRole('heading', { name: 'Erased customer' }).waitFor();
    await page.getByText(`Erased by ${ADMIN.email}`).waitFor();
    await page.getByText('This customer was erased:').waitFor();
    expect(await page.getByText('Gone & Co').count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0);

    await visit(page, `${site.url}/admin/invoices?customer=K-GONE`);
    await page
      .getByRole('link', { name: /GONE-1/ })
      .first()
      .waitFor();
  });
});

describe('looks', () => {
  test.each(['light', 'dark'] as const)('every page fits a telephone in %s', async (colorScheme) => {
    const viewport = { width: 390, height: 844 };
    const { page } = await site.open('/admin/staff', { viewport, colorScheme });
    const grace =
      (await page
        .getByRole('link', { name: /Grace Hopper/ })
        .last()
        .getAttribute('href')) ?? '';
    const paths = [
      '/admin/tokens',
      '/admin/tokens/1',
      '/admin/tokens/new',
      '/admin/staff',
      '/admin/staff/new',
    ];
    for (const path of [...paths, grace, `${grace}/password`, '/admin/connect']) {
      await visit(page, site.url + path);
      expect([path, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([path, 390]);
    }
  });

  test('the account button is named by what it shows', async () => {
    const { page } = await site.open('/admin');
    const button = page.getByRole('button', { name: `Account of ${ADMIN.name} ${ADMIN.email}` });
    expect(await button.getAttribute('aria-label')).toBeNull();
  });
});
