import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchBrowser, visit, watchComplaints } from './support/browser';
import { openSite, type Site } from './support/site';
import { signIn } from './support/staff';

const GRACE = { email: 'grace@example.com', password: 'correct horse battery' };
const ADDRESS = /http:\/\/localhost:\d+\/sign-in\/first\/[\w-]{43}/g;

let site: Site;
let browser: Browser;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  site = await openSite(async () => {});
  browser = await launchBrowser();
  page = await browser.newPage();
  page.setDefaultTimeout(15_000);
  complaints = await watchComplaints(page);
}, 400_000);
afterAll(async () => {
  await browser?.close();
  await site?.close();
});

const printed = () => site.log().match(ADDRESS) ?? [];
const fill = async (on: Page, fields: Record<string, string>) => {
  for (const [label, text] of Object.entries(fields)) await on.getByLabel(label, { exact: true }).fill(text);
  await on.getByRole('button', { name: 'Create admin' }).click();
};

describe('a server that nobody can sign in to', () => {
  test('prints an address once, which leads to a page, however often it is looked at', async () => {
    expect(site.log()).toMatch(
      /^Nobody can sign in yet\. Create the first admin here, once and within an hour:$/m,
    );
    const [address = ''] = printed();
    expect(printed()).toHaveLength(1);
    for (let i = 0; i < 3; i += 1) expect((await fetch(address)).status).toBe(200);
    await visit(page, address);
    await page.getByRole('heading', { name: 'Create the first admin' }).waitFor();
    const policy = (await fetch(address)).headers.get('content-security-policy');
    expect(policy).toContain("form-action 'self'");
  });

  test('another address says how to get one', async () => {
    const other = printed()[0]?.replace(/.{8}$/, 'AAAAAAAA') ?? '';
    const answer = await fetch(other);
    expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('prints a new one')]);
  });

  test('what is wrong is told at its field, and what was typed stays', async () => {
    await fill(page, { 'E-mail': GRACE.email, Password: 'eleven char', 'Password again': 'eleven char' });
    await page.getByText('Must have 12 to 128 characters.').waitFor();
    await fill(page, { Password: GRACE.password, 'Password again': 'another password' });
    await page.getByText('Must be the same password.').waitFor();
    expect(await page.getByLabel('E-mail').inputValue()).toBe(GRACE.email);
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('name'));
    await expect.poll(focused).toBe('repeated');
  });

  test('the first admin is made and signed in, on a device that is known', async () => {
    const [address = ''] = printed();
    await fill(page, { Name: 'Grace Hopper', Password: GRACE.password, 'Password again': GRACE.password });
    await page.waitForURL(`${site.url}/admin`);
    await page.getByRole('button', { name: 'Account of Grace Hopper' }).waitFor();
    await page.getByRole('link', { name: 'Access tokens' }).first().waitFor({ state: 'attached' });
    const names = (await page.context().cookies(`${site.url}/api/auth/`)).map(({ name }) => name);
    expect(names.some((name) => name.startsWith('w5t.device.'))).toBe(true);
    expect((await fetch(address)).status).toBe(404);
    expect(complaints).toEqual([]);
  });

  test('the page signs in without scripts too', async () => {
    const plain = await browser.newPage({ javaScriptEnabled: false });
    plain.setDefaultTimeout(15_000);
    await plain.goto(`${site.url}/sign-in?next=%2Fadmin%2Fpayments`);
    await signIn(plain, GRACE.email, 'not the password');
    await plain.getByText('The e-mail address or the password is wrong.').waitFor();
    await signIn(plain, GRACE.email, GRACE.password);
    await plain.waitForURL(`${site.url}/admin/payments`);
    await plain.close();
  });

  test('whoever tries too often is told how long to wait', async () => {
    const stranger = await browser.newPage();
    await visit(stranger, `${site.url}/sign-in`);
    for (const status of [401, 401, 401, 401, 401, 429]) {
      const answered = stranger.waitForResponse(/\/api\/auth\//);
      await signIn(stranger, 'ada@example.com', 'not the password');
      expect((await answered).status()).toBe(status);
    }
    await stranger.getByText(/^Too many attempts to sign in\. Try again in \d+ seconds\.$/).waitFor();
    await stranger.close();
  });

  test('nothing is printed where somebody can sign in', async () => {
    await site.inspect(async () => {}); // starts the embedded one again
    expect(printed()).toHaveLength(1);
    expect(site.log()).not.toContain(GRACE.password);
  });
});
