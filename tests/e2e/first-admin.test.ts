import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sharedBrowser, visit, watchComplaints } from './support/browser';
import { fill, press, see, signIn } from './support/forms';
import { openSite, type Site } from './support/site';

const GRACE = { email: 'grace@example.com', password: 'correct horse battery' };
const ADDRESS = /http:\/\/localhost:\d+\/sign-in\/first\/[\w-]{43}/g;

let site: Site;
let browser: Browser;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  site = await openSite(async () => {});
  browser = await sharedBrowser();
  page = await browser.newPage();
  page.setDefaultTimeout(15_000);
  complaints = await watchComplaints(page);
}, 400_000);
afterAll(async () => {
  await page?.close();
  await site?.close();
});

const printed = () => site.log().match(ADDRESS) ?? [];
const create = async (fields: Record<string, string>) => {
  await fill(page, fields);
  await press(page, 'Create admin');
};

test('a server without staff prints one link for creating the first admin, and opening the link does not use it up', async () => {
  expect(site.log()).toMatch(
    /^Nobody can sign in yet\. Create the first admin here, once and within an hour:\nhttp/m,
  );
  const [address = ''] = printed();
  expect(printed()).toHaveLength(1);
  for (let i = 0; i < 3; i += 1) expect((await fetch(address)).status).toBe(200);
  const policy = (await fetch(address)).headers.get('content-security-policy');
  expect(policy).toContain("form-action 'self'");
  await visit(page, address);
  await page.getByRole('heading', { name: 'Create the first admin' }).waitFor();
});

test('a wrong first-admin link is answered with 404 and instructions for a new link', async () => {
  const answer = await fetch(printed()[0]?.replace(/.{8}$/, 'AAAAAAAA') ?? '');
  expect([answer.status, await answer.text()]).toEqual([
    404,
    expect.stringContaining('prints a new address'),
  ]);
});

test('the first-admin page reports an invalid password, focuses its field and keeps the e-mail address', async () => {
  await create({ 'E-mail': GRACE.email, Password: 'eleven char', 'Password again': 'eleven char' });
  await see(page, 'Must have 12 to 128 characters.');
  await create({ Password: GRACE.password, 'Password again': 'another password' });
  await see(page, 'Must be the same password.');
  expect(await page.getByLabel('E-mail').inputValue()).toBe(GRACE.email);
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('name'));
  await expect.poll(focused).toBe('repeated');
});

test('creating the first admin signs the admin in and invalidates the first-admin link', async () => {
  const [address = ''] = printed();
  await create({ Name: 'Grace Hopper', Password: GRACE.password, 'Password again': GRACE.password });
  await page.waitForURL(`${site.url}/admin`);
  await page.getByRole('button', { name: 'Account of Grace Hopper' }).waitFor();
  await page.getByRole('link', { name: 'Access tokens' }).first().waitFor({ state: 'attached' });
  const names = (await page.context().cookies(`${site.url}/api/auth/`)).map(({ name }) => name);
  expect(names.some((name) => name.startsWith('w5t.device.'))).toBe(true);
  expect((await fetch(address)).status).toBe(404);
  expect(complaints).toEqual([]);
});

test('staff can sign in without JavaScript', async () => {
  const plain = await browser.newPage({ javaScriptEnabled: false });
  plain.setDefaultTimeout(15_000);
  await plain.goto(`${site.url}/sign-in?next=%2Fadmin%2Fpayments`);
  await signIn(plain, GRACE.email, 'not the password');
  await see(plain, 'The e-mail address or the password is wrong.');
  await signIn(plain, GRACE.email, GRACE.password);
  await plain.waitForURL(`${site.url}/admin/payments`);
  await plain.close();
});

test('a restarted server that has staff prints no first-admin link, and the log never contains the password', async () => {
  await site.restart();
  await visit(page, `${site.url}/admin`);
  await page.getByRole('button', { name: 'Account of Grace Hopper' }).waitFor();
  expect(printed()).toHaveLength(1);
  expect(site.log()).not.toContain(GRACE.password);
});
