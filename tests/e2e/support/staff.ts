import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright';
import { watchComplaints } from './browser';
import { STAFF } from './company';

type State = Awaited<ReturnType<BrowserContext['storageState']>>;

/** Somebody signed in: for new contexts, and for requests of our own. */
export interface Session {
  state: State;
  cookie: string;
}

/** Signs in once: the server counts attempts. */
export async function openSession(browser: Browser, url: string, who = STAFF): Promise<Session> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${url}/sign-in`);
  await signIn(page, who.email, who.password);
  await page.waitForURL(`${url}/admin`);
  const state = await context.storageState();
  await context.close();
  return { state, cookie: state.cookies.map(({ name, value }) => `${name}=${value}`).join('; ') };
}

/** Signs in without a browser. @returns the session cookie; `publicUrl` is where the site believes to be */
export async function openCookie(url: string, publicUrl: string, who = STAFF): Promise<string> {
  const answer = await fetch(`${url}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: publicUrl },
    body: JSON.stringify({ email: who.email, password: who.password }),
  });
  if (!answer.ok) throw new Error(`signing in answered ${answer.status}`);
  return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
}

/** A page of somebody signed in, and what it complains of from now on. */
export async function openStaffPage(
  browser: Browser,
  { state }: Session,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; complaints: string[] }> {
  const page = await (await browser.newContext({ ...options, storageState: state })).newPage();
  page.setDefaultTimeout(15_000);
  return { page, complaints: await watchComplaints(page) };
}

/** Fills in the sign-in page and sends it. */
export async function signIn(page: Page, email = STAFF.email, password = STAFF.password): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** A server action as a browser sent it. */
export interface SentAction {
  url: string;
  headers: Record<string, string>;
  body: Buffer;
}

/** What pressing a button would send, which the server never sees. */
export async function interceptAction(page: Page, press: () => Promise<void>): Promise<SentAction> {
  const caught = new Promise<SentAction>((resolve) => {
    page.route('**', async (route, request) => {
      if (request.method() !== 'POST') return route.continue();
      const { cookie: _, ...headers } = await request.allHeaders();
      const kept = Object.entries(headers).filter(
        ([name]) => !/^(:|content-length|host|connection)/.test(name),
      );
      resolve({
        url: request.url(),
        headers: Object.fromEntries(kept),
        body: request.postDataBuffer() ?? Buffer.of(),
      });
      return route.abort();
    });
  });
  await press();
  const action = await caught;
  await page.unroute('**');
  return action;
}

/** Sends it again, as somebody with this cookie, or without one. */
export function sendAction({ url, headers, body }: SentAction, cookie?: string): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { ...headers, ...(cookie && { cookie }) },
    body: new Uint8Array(body),
    redirect: 'manual',
  });
}
