import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright';
import { afterAll, afterEach, beforeAll, expect, inject, type TestContext } from 'vitest';
import type { Database } from '@/db/database';
import { waitForLock } from '@/db/lock';
import { perProcess } from '@/db/per-process';
import { loadWorld, saveWorld } from '@/lib/stripe-local/persist';
import { type StripeLocal, startStripeLocal } from '@/lib/stripe-local/server';
import { sharedBrowser, visit, watchComplaints } from './browser';
import { type Company, fillCompany, STAFF } from './company';
import { type Site, startSite } from './site';
import { copyDatabase, createTemplate } from './site-database';
import { fillStripe, type StripeAccount } from './stripe-account';

type Person = typeof STAFF;
type Kind = 'company' | 'https';
type Cookie = Awaited<ReturnType<BrowserContext['cookies']>>[number];

interface SiteOptions {
  /** The person who is signed in by default. */
  as?: Person;
  /** Whether to start a site that no other test file uses, for tests that change shared settings or data. */
  fresh?: boolean;
  /** Additional environment variables for the server of a fresh site. */
  env?(): Record<string, string>;
}

interface OpenOptions extends BrowserContextOptions {
  /** The signed-in person, or null for a visitor. */
  as?: Person | null;
  /**
   * Whether to use a separate browser context, which shares only the sign-in cookies with other pages. A visitor and
   * any context option imply it.
   */
  own?: boolean;
  /** Whether the page stays open until all tests of the file have run. */
  keep?: boolean;
}

interface FetchOptions extends RequestInit {
  as?: Person | null;
  headers?: Record<string, string>;
}

interface RunningSite {
  site: Site;
  /** The server's configured public URL. */
  publicUrl: string;
  facts: Facts;
  stripe: StripeLocal;
  cookies: Map<string, Promise<Cookie[]>>;
  contexts: Map<string, Promise<BrowserContext>>;
}

type Facts = Company & StripeAccount;

interface Opened {
  page: Page;
  complaints: string[];
  isOwn: boolean;
  keep: boolean;
}

export const HTTPS_URL = 'https://admin.w5t.test';
const STRIPE_KEY = 'sk_test_local';
const RESULTS = join(import.meta.dirname, '../../../test-results');
const TRACE_OPTIONS = { screenshots: true, snapshots: true };
/** Whether to record a Playwright trace of each failed test, which slows down every page. */
const TRACES = process.env.TEST_TRACE !== undefined;

/** The shared sites of a worker. Its test files share them one after the other. */
const worker = perProcess('e2e-worker', () => ({
  sites: new Map<Kind, Promise<RunningSite>>(),
  addresses: 0,
}));

/**
 * Provides a running site with the sample company. The test files of a worker share the site unless `fresh` is set, so
 * a file that writes must use its own records. After each test, checks that `watchComplaints` collected nothing from
 * its pages, and closes them unless `keep` is set.
 *
 * @param kind `company` is configured for its own http URL, `https` for HTTPS_URL behind a proxy
 */
export function useSite(kind: Kind, { as: standard = STAFF, fresh = false, env }: SiteOptions = {}) {
  let running: RunningSite;
  const opened: Opened[] = [];
  const allowed: RegExp[] = [];

  beforeAll(async () => {
    if (fresh) running = await startRunning(kind, env?.());
    else {
      const shared = worker.sites.get(kind) ?? startRunning(kind);
      worker.sites.set(kind, shared);
      running = await shared;
    }
  }, 400_000);
  afterAll(async () => {
    for (const one of opened.splice(0)) await closeOpened(one);
    if (!fresh || !running) return;
    for (const context of running.contexts.values()) await (await context).close();
    await running.site.close();
    await running.stripe.close();
  });
  afterEach(async (context) => {
    const complaints = opened
      .flatMap((one) => one.complaints)
      .filter((text) => !allowed.some((pattern) => pattern.test(text)));
    if (context.task.result?.state === 'fail' || complaints.length > 0) await keepEvidence(context, opened);
    for (const one of opened.splice(0)) {
      if (one.keep) opened.push(one);
      else await closeOpened(one);
      one.complaints.splice(0);
    }
    allowed.splice(0);
    expect(complaints).toEqual([]);
  });

  const cookieOf = async (who: Person | null) =>
    who === null
      ? ''
      : (await cookiesOf(running, who)).map(({ name, value }) => `${name}=${value}`).join('; ');
  return {
    get url() {
      return running.site.url;
    },
    /** Ids and secrets of the sample data. */
    get facts() {
      return running.facts;
    },
    get stripe() {
      return running.stripe;
    },
    log: () => running.site.log(),
    inspect: <T>(look: (db: Database) => Promise<T>) => running.site.inspect(look),
    restart: (write: (db: Database) => Promise<void>) => running.site.restart(write),
    /** Returns the `Cookie` header of a signed-in person. */
    cookie: (who: Person = standard) => cookieOf(who),
    /** Sends a request without a browser. Does not follow redirects. */
    async fetch(path: string, { as = standard, headers, ...init }: FetchOptions = {}): Promise<Response> {
      const cookie = await cookieOf(as);
      return fetch(running.site.url + path, {
        redirect: 'manual',
        ...init,
        headers: { ...(cookie && { cookie }), ...headers },
      });
    },
    /** Opens a page. It is closed after the test unless `keep` is set. */
    async open(
      path: string,
      { as = standard, own, keep = false, ...options }: OpenOptions = {},
    ): Promise<Page> {
      const isOwn = TRACES || own === true || as === null || Object.keys(options).length > 0;
      const context = await (isOwn
        ? newContext(running, as, options)
        : sharedContext(running, as ?? standard));
      const page = await context.newPage();
      page.setDefaultTimeout(15_000);
      opened.push({ page, complaints: await watchComplaints(page), isOwn, keep });
      // Without scripts, streamed content never moves to its place, and `visit` would wait for it until its timeout.
      if (options.javaScriptEnabled === false) await page.goto(running.site.url + path);
      else await visit(page, running.site.url + path);
      return page;
    },
    /** Permits matching complaints of the pages of this test, such as an HTTP status that the browser reports. */
    allowComplaints(pattern: RegExp): void {
      allowed.push(pattern);
    },
  };
}

const closeOpened = ({ page, isOwn }: Opened) => (isOwn ? page.context() : page).close();

async function startRunning(kind: Kind, env: Record<string, string> = {}): Promise<RunningSite> {
  const folder = await ensureTemplate();
  const facts = JSON.parse(readFileSync(join(folder, 'facts.json'), 'utf8')) as Facts;
  const { timeZone } = facts;
  const world = await loadWorld(join(folder, 'world.json'), { now: () => new Date(), timeZone });
  if (!world) throw new Error('the template has no Stripe account');
  const stripe = await startStripeLocal({ world, secretKey: STRIPE_KEY });
  const dataDir = mkdtempSync(join(dirname(folder), 'site-'));
  const site = await startSite(dataDir, await copyDatabase(join(folder, 'data'), dataDir), {
    APP_TIMEZONE: timeZone,
    STRIPE_SECRET_KEY: STRIPE_KEY,
    STRIPE_API_BASE: stripe.url,
    // Each browser context gets its own IP address, because sign-ins are limited per IP address.
    TRUSTED_PROXIES: '127.0.0.1, ::1',
    ...(kind === 'https' && { PUBLIC_URL: HTTPS_URL }),
    ...env,
  });
  const publicUrl = kind === 'https' ? HTTPS_URL : site.url;
  return { site, publicUrl, facts, stripe, cookies: new Map(), contexts: new Map() };
}

/** Fills the run's template database, unless another worker has filled it. @returns the template folder */
async function ensureTemplate(): Promise<string> {
  const folder = join(dirname(inject('pgliteImage')), 'template');
  const unlock = await waitForLock(folder);
  try {
    const made = join(folder, 'facts.json');
    if (existsSync(made)) return folder;
    let facts = {};
    await createTemplate(join(folder, 'data'), async (db) => {
      const company = await fillCompany(db);
      const { world, account } = await fillStripe(db);
      await saveWorld(world, join(folder, 'world.json'));
      facts = { ...company, ...account };
    });
    writeFileSync(made, JSON.stringify(facts));
    return folder;
  } finally {
    unlock();
  }
}

/** Signs in once per site and person, because hashing a password occupies a core for a tenth of a second. */
function cookiesOf(running: RunningSite, who: Person): Promise<Cookie[]> {
  const known = running.cookies.get(who.email) ?? signInByRequest(running, who);
  running.cookies.set(who.email, known);
  return known;
}

async function signInByRequest(
  { site, publicUrl }: RunningSite,
  { email, password }: Person,
): Promise<Cookie[]> {
  const answer = await fetch(`${site.url}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: publicUrl },
    body: JSON.stringify({ email, password }),
  });
  if (!answer.ok) throw new Error(`signing in answered ${answer.status}`);
  const shared = {
    domain: 'localhost',
    expires: -1,
    httpOnly: true,
    secure: false,
    sameSite: 'Lax' as const,
  };
  return answer.headers.getSetCookie().map((text) => {
    const [pair = '', ...flags] = text.split('; ');
    const [name = '', value = ''] = pair.split('=', 2);
    const path = flags.find((flag) => flag.startsWith('Path='))?.slice(5) ?? '/';
    return { ...shared, name, value, path };
  });
}

/** Returns one context per site and person, so that later pages find scripts in its cache. */
function sharedContext(running: RunningSite, who: Person): Promise<BrowserContext> {
  const known = running.contexts.get(who.email) ?? newContext(running, who, {});
  running.contexts.set(who.email, known);
  return known;
}

async function newContext(running: RunningSite, who: Person | null, options: BrowserContextOptions) {
  worker.addresses += 1;
  const context = await (await sharedBrowser()).newContext({
    viewport: { width: 1440, height: 900 },
    extraHTTPHeaders: { 'x-forwarded-for': `10.${worker.addresses >> 8}.${worker.addresses & 255}.1` },
    storageState: { cookies: who ? await cookiesOf(running, who) : [], origins: [] },
    ...options,
  });
  if (TRACES) await context.tracing.start(TRACE_OPTIONS);
  return context;
}

/** Saves screenshots, texts and errors of a failed test's pages, and prints where they are. */
async function keepEvidence({ task }: TestContext, opened: { page: Page; complaints: string[] }[]) {
  if (opened.length === 0) return;
  const name = `${task.file.name} ${task.name}`.replace(/[^\w]+/g, '-').slice(-120);
  const folder = join(RESULTS, name);
  mkdirSync(folder, { recursive: true });
  for (const [index, { page, complaints }] of opened.entries()) {
    const file = join(folder, `page-${index + 1}`);
    await page.screenshot({ path: `${file}.png` }).catch(() => null); // The page may have crashed.
    const text = await page.locator('body').allInnerTexts().catch(String);
    writeFileSync(`${file}.txt`, [page.url(), ...complaints, '', text].join('\n'));
    if (!TRACES) continue;
    await page.context().tracing.stop({ path: `${file}.zip` });
    await page.context().tracing.start(TRACE_OPTIONS); // Later tests may still use the page, so start another trace.
  }
  const trace = TRACES ? '' : ' (and a trace of it with TEST_TRACE=1)';
  process.stderr.write(
    `${task.name}: each page as it was then${trace} is in ${relative(process.cwd(), folder)}\n`,
  );
}
