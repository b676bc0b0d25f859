import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import packedChromium from '@sparticuz/chromium';
import { type Browser, chromium, type Page } from 'playwright';
import { waitForLock } from '@/db/lock';

const SYSTEM_CHROMIUM = '/usr/bin/chromium';

/** The system's Chromium, else the one packed into a package. */
export async function launchBrowser(): Promise<Browser> {
  // The package's own arguments are for one page at a time: with a single process, which ends with it.
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
    ],
  });
}

/** One process unpacks it: another would take what is half written for it. */
async function unpackChromium(): Promise<string> {
  const unlock = await waitForLock(join(tmpdir(), 'w5t-chromium'));
  try {
    return await packedChromium.executablePath();
  } finally {
    unlock();
  }
}

/** Opens a page and waits for what it streams: until that is in its place, its words may stand there twice. */
export async function visit(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.locator('[id^="S:"]').first().waitFor({ state: 'detached' });
}

/** What a page complains of from now on: console errors, uncaught errors, breaches of its policy. */
export async function watchComplaints(page: Page): Promise<string[]> {
  const complaints: string[] = [];
  page.on('console', (message) => {
    // A wrong password or code is answered 401, which the console calls an error.
    if (message.location().url.includes('/api/auth/sign-in/')) return;
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      // biome-ignore lint/suspicious/noConsole: the console is what is watched
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
    });
  });
  return complaints;
}

/** The addresses beyond an origin that a page asks for from now on. */
export function watchForeignRequests(page: Page, origin: string): string[] {
  const foreign: string[] = [];
  page.on('request', (request) => {
    const { protocol, origin: target } = new URL(request.url());
    if (target !== origin && protocol !== 'data:') foreign.push(request.url());
  });
  return foreign;
}
