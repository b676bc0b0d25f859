import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import packedChromium from '@sparticuz/chromium';
import { type Browser, chromium, type Page } from 'playwright';
import { waitForLock } from '@/db/lock';
import { perProcess } from '@/db/per-process';

const SYSTEM_CHROMIUM = '/usr/bin/chromium';

const worker = perProcess('e2e-browser', () => ({ browser: undefined as Promise<Browser> | undefined }));

/** Returns the browser of the worker. Its test files share it, so they close only their own pages and contexts. */
export function sharedBrowser(): Promise<Browser> {
  worker.browser ??= launchBrowser();
  return worker.browser;
}

/** Starts the system's Chromium or, if there is none, the one from the npm package. */
async function launchBrowser(): Promise<Browser> {
  // Do not use the package's own arguments. Their single browser process ends when one page is closed.
  return chromium.launch({
    executablePath: existsSync(SYSTEM_CHROMIUM) ? SYSTEM_CHROMIUM : await unpackChromium(),
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // A test's page lives too briefly for optimized code to pay off.
      '--js-flags=--no-opt --no-maglev',
    ],
  });
}

/** Unpacks Chromium under a lock, so that no other process starts a half-written file. */
async function unpackChromium(): Promise<string> {
  const unlock = await waitForLock(join(tmpdir(), 'w5t-chromium'));
  try {
    return await packedChromium.executablePath();
  } finally {
    unlock();
  }
}

/** Opens a page and waits until streamed content is in place. Until then, the page may contain a text twice. */
export async function visit(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.locator('[id^="S:"]').first().waitFor({ state: 'detached' });
}

/** Collects a page's console errors and warnings, uncaught errors, CSP violations and prefetches from now on. */
export async function watchComplaints(page: Page): Promise<string[]> {
  const complaints: string[] = [];
  page.on('console', (message) => {
    // A wrong password or code is answered with 401, which the console reports as an error.
    if (message.location().url.includes('/api/auth/sign-in/')) return;
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    if (request.headers()['next-router-prefetch']) complaints.push(`prefetched ${request.url()}`);
  });
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      // biome-ignore lint/suspicious/noConsole: the test collects console errors
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
    });
  });
  return complaints;
}

/** Collects the URLs outside an origin that a page requests from now on. */
export function watchForeignRequests(page: Page, origin: string): string[] {
  const foreign: string[] = [];
  page.on('request', (request) => {
    const { protocol, origin: target } = new URL(request.url());
    if (target !== origin && protocol !== 'data:') foreign.push(request.url());
  });
  return foreign;
}
