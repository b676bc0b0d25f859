import { base32 } from '@better-auth/utils/base32';
import { createOTP } from '@better-auth/utils/otp';
import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { giveAuthenticator } from './support/authenticator';
import { visit } from './support/browser';
import { ADMIN, CODES, KEYS, STAFF } from './support/company';
import { confirm, press, pressHydrated, signIn, told } from './support/forms';
import { violationsOf } from './support/looks';
import { useSite } from './support/use-site';

const NEW_PASSWORD = 'another battery staple';

// Use a fresh site, because one test makes a second factor mandatory for all staff, which affects all sessions.
const site = useSite('company', { fresh: true });

const arrive = (page: Page, path: string) => page.waitForURL((url) => url.pathname === path);
const alert = (page: Page, text: string | RegExp) =>
  page.getByRole('alert').filter({ hasText: text }).waitFor();
/** Signs in with a password and waits for `path`, the page on which this person should land. */
async function enter(who: { email: string; password: string }, path: string): Promise<Page> {
  const page = await site.open('/sign-in', { as: null });
  await signIn(page, who.email, who.password);
  await arrive(page, path);
  return page;
}
async function typeCode(page: Page, code: string): Promise<void> {
  await page.getByLabel('Code').fill(code);
  await press(page, 'Continue');
}
/** Sets up an authenticator app. @returns a function that generates its codes, and the recovery codes */
async function setUpApp(page: Page, password: string) {
  await page
    .getByRole('form', { name: 'Set up two-factor authentication' })
    .getByLabel('Your password')
    .fill(password);
  await pressHydrated(page, 'Set up authenticator app');
  const key = (await page.locator('code').first().textContent()) ?? '';
  const secret = new TextDecoder().decode(base32.decode(key));
  const code = () => createOTP(secret, { digits: 6, period: 30 }).totp();
  await page.getByLabel('Code from the app').fill('000000');
  await press(page, 'Turn on');
  await page.getByText('Is not the code the app shows now.').waitFor();
  await page.getByLabel('Code from the app').fill(await code());
  await press(page, 'Turn on');
  await told(page, 'Two-factor authentication is on.');
  const codes = ((await page.getByLabel('recovery codes').textContent()) ?? '').split('\n');
  return { code, codes };
}

describe('passkeys', () => {
  test('staff can sign in with a passkey until they remove it', async () => {
    const page = await enter(KEYS, '/admin');
    await giveAuthenticator(page);
    await page.reload();
    await page.getByRole('button', { name: /^Account of/ }).click();
    await page.getByRole('menuitem', { name: 'Your account' }).click();
    await press(page, 'Add a passkey');
    await page.getByLabel('Name').fill('Work laptop');
    const form = page.getByRole('form', { name: 'Add a passkey' });
    await form.getByLabel('Your password').fill('not my password');
    await press(page, 'Add passkey');
    await page.getByText('Is not your password.').waitFor();
    await form.getByLabel('Your password').fill(KEYS.password);
    await press(page, 'Add passkey');
    await told(page, 'The passkey is added');
    await page.getByText('Work laptop').waitFor();
    expect(await violationsOf(page)).toEqual([]);

    await page.context().clearCookies();
    await visit(page, `${site.url}/sign-in?next=/admin/account`);
    await press(page, 'Use a passkey');
    await arrive(page, '/admin/account');
    await press(page, 'Remove Work laptop');
    const removal = page.getByRole('form', { name: 'Remove Work laptop' });
    await removal.getByLabel('Your password').fill('not my password');
    await press(page, 'Remove passkey');
    await page.getByText('Is not your password.').waitFor();
    await removal.getByLabel('Your password').fill(KEYS.password);
    await press(page, 'Remove passkey');
    await told(page, 'The passkey is removed.');
    await page.context().clearCookies();
    await visit(page, `${site.url}/sign-in`);
    await press(page, 'Use a passkey');
    await alert(page, 'This passkey is not known here');
  });
});

describe('two-factor authentication', () => {
  test('signing in with two-factor authentication requires a code or an unused recovery code', {
    timeout: 120_000,
  }, async () => {
    const page = await enter(CODES, '/admin');
    await visit(page, `${site.url}/admin/account`);
    const { code, codes } = await setUpApp(page, CODES.password);
    expect(codes).toHaveLength(10);
    expect(await violationsOf(page, 'all')).toEqual([]);
    await page.getByRole('link', { name: 'I have saved them' }).click();
    await page.getByText('You enter a code from your authenticator app').waitFor();

    const second = await enter(CODES, '/sign-in/code');
    expect(await violationsOf(second)).toEqual([]);
    await visit(second, `${site.url}/admin`);
    await arrive(second, '/sign-in'); // The password alone leaves the person signed out.
    const third = await enter(CODES, '/sign-in/code');
    await typeCode(third, '000000');
    await alert(third, 'The code is wrong');
    await typeCode(third, await code());
    await arrive(third, '/admin');

    const [recovery = ''] = codes;
    const fourth = await enter(CODES, '/sign-in/code');
    await typeCode(fourth, recovery);
    await arrive(fourth, '/admin');
    const fifth = await enter(CODES, '/sign-in/code');
    await typeCode(fifth, recovery);
    await alert(fifth, 'has already been used');
    for (let i = 0; i < 4; i += 1) {
      await typeCode(fifth, `00000${i}`);
      await alert(fifth, i < 3 ? 'The code is wrong' : /Too many attempts to sign in/);
    }
    await typeCode(fifth, await code());
    await alert(fifth, /Too many attempts to sign in/);
    expect(site.log()).not.toContain(recovery);
  });

  test('an admin can make two-factor authentication mandatory for all staff', {
    timeout: 120_000,
  }, async () => {
    const page = await site.open('/admin/staff', { as: ADMIN, own: true });
    await confirm(page, 'Require it for everyone', 'Require it');
    await arrive(page, '/sign-in/due'); // The requirement covers every account, so the admin has to set up an app too.
    const { code } = await setUpApp(page, ADMIN.password);
    await page.getByRole('link', { name: 'I have saved them' }).click();
    await arrive(page, '/admin/staff');
    expect(code).toBeDefined();

    const hers = await site.open('/admin/payments', { own: true });
    await arrive(hers, '/sign-in/due');
    expect(await violationsOf(hers)).toEqual([]);
    const found = await site.fetch('/admin/search/results?q=K1');
    expect(found.status).toBe(401);
    await setUpApp(hers, STAFF.password);
    await hers.getByRole('link', { name: 'I have saved them' }).click();
    await arrive(hers, '/admin/payments');
    await visit(hers, `${site.url}/admin/account`);
    await hers.getByText('it cannot be turned off').waitFor();

    await page.getByRole('link', { name: STAFF.name }).click();
    await confirm(page, 'Reset two-factor', 'Reset');
    await told(page, 'The second factor is removed');
    await page.getByText('Two-factor reset by root@example.com').waitFor();
    await visit(page, `${site.url}/admin/staff`);
    await confirm(page, 'Stop requiring it');
    await told(page, 'now optional');
    await enter(STAFF, '/admin');
  });
});

describe('passwords and invitations', () => {
  test('changing one’s own password ends all other sessions of the account', async () => {
    const page = await enter(KEYS, '/admin');
    const other = await enter(KEYS, '/admin');
    await visit(page, `${site.url}/admin/account`);
    const form = page.getByRole('form', { name: 'Password', exact: true });
    await form.getByLabel('Current password').fill('not my password');
    for (const label of ['New password', 'New password again']) {
      await form.getByLabel(label, { exact: true }).fill(NEW_PASSWORD);
    }
    await press(page, 'Change password');
    await page.getByText('Is not your password.').waitFor();
    await form.getByLabel('Current password').fill(KEYS.password);
    for (const label of ['New password', 'New password again']) {
      await form.getByLabel(label, { exact: true }).fill(NEW_PASSWORD);
    }
    await press(page, 'Change password');
    await told(page, 'Your password is changed, and your other sessions have ended.');
    await visit(other, `${site.url}/admin`);
    await arrive(other, '/sign-in');
    await enter({ ...KEYS, password: NEW_PASSWORD }, '/admin');
  });

  test('an invitation stops working once the invited person has chosen a password', async () => {
    const page = await site.open('/admin/staff/new', { as: ADMIN, own: true });
    await page.getByLabel('E-mail').fill('alan@example.com');
    await page.getByLabel('Name', { exact: true }).fill('Alan Turing');
    await press(page, 'Add person');
    await told(page, 'alan@example.com is invited.');
    const url = (await page.locator('pre').textContent()) ?? '';
    const hers = await site.open(new URL(url).pathname, { as: null });
    expect(await violationsOf(hers)).toEqual([]);
    await hers.getByLabel('Password', { exact: true }).fill(NEW_PASSWORD);
    await hers.getByLabel('Password again').fill(NEW_PASSWORD);
    await press(hers, 'Choose password');
    await arrive(hers, '/admin');
    const again = await site.open(new URL(url).pathname, { as: null });
    await again.getByText('This invitation is not valid').waitFor();
    site.allowComplaints(/404/);
    expect(site.log()).not.toContain(url.split('/').at(-1));
  });
});
