import type { Browser, BrowserContextOptions, Page } from 'playwright';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { Database } from '@/db/database';
import { launchBrowser, visit } from './browser';
import { fillCompany, STAFF } from './company';
import { openSite, type Site } from './site';
import { openSession, openStaffPage, type Session } from './staff';

interface Options {
  /** Writes what the tests will find beside the sample company. */
  fill?(db: Database, company: Awaited<ReturnType<typeof fillCompany>>): Promise<void>;
  /** Further variables of the server. */
  env?(): Record<string, string>;
  /** Who is signed in. */
  who?: typeof STAFF;
}

/** A site with the sample company and somebody signed in; after each test its pages must not have complained. */
export function useStaffPages({ fill, env, who = STAFF }: Options = {}) {
  let site: Site;
  let browser: Browser;
  let session: Session;
  const opened: { page: Page; complaints: string[] }[] = [];

  beforeAll(async () => {
    site = await openSite(async (db) => fill?.(db, await fillCompany(db)), env);
    browser = await launchBrowser();
    session = await openSession(browser, site.url, who);
  }, 400_000);
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });
  afterEach(async () => {
    const complaints = opened.flatMap((one) => one.complaints);
    for (const { page } of opened.splice(0)) await page.context().close();
    expect(complaints).toEqual([]);
  });

  return {
    get url() {
      return site.url;
    },
    get cookie() {
      return session.cookie;
    },
    get browser() {
      return browser;
    },
    log: () => site.log(),
    async open(path: string, options: BrowserContextOptions = {}, as = session) {
      const one = await openStaffPage(browser, as, { viewport: { width: 1440, height: 900 }, ...options });
      opened.push(one);
      // Without scripts nothing streamed comes to its place.
      if (options.javaScriptEnabled === false) await one.page.goto(site.url + path);
      else await visit(one.page, site.url + path);
      return one;
    },
  };
}
