import type { Page } from 'playwright';
import { expect, test } from 'vitest';
import { giveAuthenticator } from './support/authenticator';
import { visit } from './support/browser';
import { ADMIN, CODES, KEYS, STAFF } from './support/company';
import { beginApp, confirm, fill, link, press, pressAndSee, see, seeAlert, signIn } from './support/forms';
import { violationsOf } from './support/looks';
import { useSite } from './support/use-site';

const NEW_PASSWORD = 'another battery staple';

// Use a fresh site, because one test makes a second factor mandatory for all staff, which affects all sessions.
const site = useSite('company', { fresh: true });

const arrive = (page: Page, path: string) => page.waitForURL((url) => url.pathname === path);
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
/** Sets up an authenticator app. @returns the recovery codes, and a function that generates the codes of the app */
async function setUpApp(page: Page, password: string) {
  const code = await beginApp(page, password);
  await page.getByLabel('Code from the app').fill('000000');
  await pressAndSee(page, 'Turn on', 'Is not the code the app shows now.');
  await page.getByLabel('Code from the app').fill(await code());
  await press(page, 'Turn on', 'Two-factor authentication is on.');
  const codes = ((await page.getByLabel('recovery codes').textContent()) ?? '').split('\n');
  return { code, codes };
}

/** Deletes the cookie of the challenge the next time the device creates a passkey, as if the challenge had expired. */
async function loseChallenge(page: Page): Promise<void> {
  await page.exposeFunction('forgetChallenge', () => page.context().clearCookies({ name: /passkey/ }));
  await page.evaluate(() => {
    const world = window as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    const { makePasskey } = world;
    world.makePasskey = async (...args) => {
      Object.assign(world, { makePasskey });
      await world.forgetChallenge?.();
      return makePasskey?.(...args);
    };
  });
}

const goOn = (page: Page) => link(page, 'I have saved them').click();

test('staff can sign in with a passkey until they remove it', async () => {
  const page = await enter(KEYS, '/admin');
  await giveAuthenticator(page);
  await page.reload();
  await page.getByRole('button', { name: /^Account of/ }).click();
  await page.getByRole('menuitem', { name: 'Your account' }).click();
  await press(page, 'Add a passkey');
  await page.getByLabel('Name').fill('Work laptop');
  const form = page.getByRole('form', { name: 'Add a passkey' });
  await fill(form, { 'Your password': 'not my password' });
  await pressAndSee(page, 'Add passkey', 'Is not your password.');
  await fill(form, { 'Your password': KEYS.password });
  await loseChallenge(page);
  await pressAndSee(page, 'Add passkey', 'The passkey could not be verified. Try again.');
  await press(page, 'Add passkey', 'The passkey is added');
  await page.getByText('Work laptop').waitFor();
  expect(await violationsOf(page)).toEqual([]);

  await page.context().clearCookies();
  await visit(page, `${site.url}/sign-in?next=/admin/account`);
  await press(page, 'Use a passkey');
  await arrive(page, '/admin/account');
  await press(page, 'Remove Work laptop');
  await fill(page.getByRole('form', { name: 'Remove Work laptop' }), { 'Your password': KEYS.password });
  await press(page, 'Remove passkey', 'The passkey is removed.');
  await page.context().clearCookies();
  await visit(page, `${site.url}/sign-in`);
  await press(page, 'Use a passkey');
  await seeAlert(page, 'This passkey is not known here');
});

test('signing in with two-factor authentication requires a code or an unused recovery code, and is limited to few attempts', {
  timeout: 120_000,
}, async () => {
  const page = await enter(CODES, '/admin');
  await visit(page, `${site.url}/admin/account`);
  const { code, codes } = await setUpApp(page, CODES.password);
  expect(codes).toHaveLength(10);
  expect(await violationsOf(page, 'all')).toEqual([]);
  await goOn(page);
  await see(page, 'You enter a code from your authenticator app');

  const second = await enter(CODES, '/sign-in/code');
  expect(await violationsOf(second)).toEqual([]);
  await visit(second, `${site.url}/admin`);
  await arrive(second, '/sign-in'); // The password alone leaves the person signed out.
  const third = await enter(CODES, '/sign-in/code');
  await typeCode(third, '000000');
  await seeAlert(third, 'The code is wrong');
  await typeCode(third, await code());
  await arrive(third, '/admin');

  const [recovery = ''] = codes;
  const fourth = await enter(CODES, '/sign-in/code');
  await typeCode(fourth, recovery);
  await arrive(fourth, '/admin');
  const fifth = await enter(CODES, '/sign-in/code');
  await typeCode(fifth, recovery);
  await seeAlert(fifth, 'has already been used');
  for (let i = 0; i < 4; i += 1) {
    await typeCode(fifth, `00000${i}`);
    await seeAlert(fifth, i < 3 ? 'The code is wrong' : /Too many attempts to sign in/);
  }
  await typeCode(fifth, await code());
  await seeAlert(fifth, /Too many attempts to sign in/);
  expect(site.log()).not.toContain(recovery);
});

test('an admin can make two-factor authentication mandatory for all staff, reset it for one person, and make it optional again', {
  timeout: 120_000,
}, async () => {
  const page = await site.open('/admin/staff', { as: ADMIN, own: true });
  await confirm(page, ['Require it for everyone', 'Require it']);
  await arrive(page, '/sign-in/due'); // The requirement covers every account, so the admin has to set up an app too.
  await setUpApp(page, ADMIN.password);
  await goOn(page);
  await arrive(page, '/admin/staff');

  const hers = await site.open('/admin/payments', { own: true });
  await arrive(hers, '/sign-in/due');
  expect(await violationsOf(hers)).toEqual([]);
  expect((await site.fetch('/admin/search/results?q=K1')).status).toBe(401);
  await setUpApp(hers, STAFF.password);
  await goOn(hers);
  await arrive(hers, '/admin/payments');
  await visit(hers, `${site.url}/admin/account`);
  await see(hers, 'it cannot be turned off');

  await page.getByRole('link', { name: STAFF.name }).click();
  await confirm(page, ['Reset two-factor', 'Reset'], 'The second factor is removed');
  await see(page, 'Two-factor reset by root@example.com');
  await visit(page, `${site.url}/admin/staff`);
  await confirm(page, 'Stop requiring it', 'now optional');
  await enter(STAFF, '/admin');
});

test('changing one’s own password ends all other sessions of the account', async () => {
  const page = await enter(KEYS, '/admin');
  const other = await enter(KEYS, '/admin');
  await visit(page, `${site.url}/admin/account`);
  const form = page.getByRole('form', { name: 'Password', exact: true });
  const chosen = { 'New password': NEW_PASSWORD, 'New password again': NEW_PASSWORD };
  await fill(form, { 'Current password': 'not my password', ...chosen });
  await pressAndSee(page, 'Change password', 'Is not your password.');
  await fill(form, { 'Current password': KEYS.password, ...chosen });
  await press(page, 'Change password', 'Your password is changed, and your other sessions have ended.');
  await visit(other, `${site.url}/admin`);
  await arrive(other, '/sign-in');
  await enter({ ...KEYS, password: NEW_PASSWORD }, '/admin');
});

test('an invitation stops working once the invited person has chosen a password', async () => {
  const page = await site.open('/admin/staff/new', { as: ADMIN, own: true });
  await fill(page, { 'E-mail': 'alan@example.com', Name: 'Alan Turing' });
  await press(page, 'Add person', 'alan@example.com is invited.');
  const url = (await page.locator('pre').textContent()) ?? '';
  const hers = await site.open(new URL(url).pathname, { as: null });
  expect(await violationsOf(hers)).toEqual([]);
  await fill(hers, { Password: NEW_PASSWORD, 'Password again': NEW_PASSWORD });
  await press(hers, 'Choose password');
  await arrive(hers, '/admin');
  const again = await site.open(new URL(url).pathname, { as: null });
  await see(again, 'This invitation is not valid');
  site.allowComplaints(/404/);
  expect(site.log()).not.toContain(url.split('/').at(-1));
});
