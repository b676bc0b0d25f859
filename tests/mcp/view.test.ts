import type { Browser, Locator, Page } from 'playwright';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { VIEW_CONTENTS } from '@/lib/mcp/view';
import { sharedBrowser, watchComplaints } from '../e2e/support/browser';
import { violationsOf } from '../e2e/support/looks';

const EVIL = '<img src=x onerror="document.title=\'run\'">';
const CONTEXT = { theme: 'light', locale: 'de-DE', timeZone: 'Europe/Berlin' };
const EUR = { currency: 'eur' };
const evilCustomer = { id: 1, customer_number: 'K1', name: EVIL, email: null, status: 'active' };

/** A page of an MCP host, as the specification describes it. It shows the view in a frame and collects its messages. */
const HOST = `<!doctype html><html lang="en"><title>Host</title><body><iframe title="View"></iframe><script>
  window.received = [];
  const frame = document.querySelector('iframe');
  window.tell = (message) => frame.contentWindow.postMessage({ jsonrpc: '2.0', ...message }, '*');
  window.addEventListener('message', ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    received.push(data);
    if (data.method === 'ui/initialize') {
      const hostInfo = { name: 'test', version: '1' };
      const result = { protocolVersion: '2026-01-26', hostInfo, hostCapabilities: {}, hostContext: window.context };
      tell({ id: data.id, result });
    }
    if (data.method === 'ui/notifications/size-changed') frame.height = data.params.height;
  });
</script></body></html>`;

let browser: Browser;
let page: Page;
let complaints: string[];
let requests: string[];

beforeAll(async () => {
  browser = await sharedBrowser();
});
afterEach(async () => {
  expect([complaints, requests]).toEqual([[], []]);
  await page.close();
});

/** Opens the host with the sandboxed view in it, and waits until their handshake is complete. */
async function openView({ width = 800, context = CONTEXT }: { width?: number; context?: object } = {}) {
  page = await browser.newPage({ viewport: { width, height: 600 } });
  complaints = await watchComplaints(page);
  await page.setContent(HOST);
  requests = [];
  page.on('request', (request) => requests.push(request.url()));
  const html = VIEW_CONTENTS.contents.map((content) => ('text' in content ? content.text : '')).join('');
  await page.evaluate(
    ({ html, context }) => {
      const frame = document.querySelector('iframe');
      Object.assign(window, { context });
      frame?.setAttribute('sandbox', 'allow-scripts');
      Object.assign(frame ?? {}, { srcdoc: html, style: 'width: 100%; border: 0' });
    },
    { html, context },
  );
  await expect.poll(received).toContain('ui/notifications/initialized');
}

/** The window of the host's page. */
type Host = Window & { received: { method?: string }[]; tell(message: object): void };
const messages = () => page.evaluate(() => (window as unknown as Host).received);
const received = async () => (await messages()).map(({ method }) => method);
const tell = (message: object) => page.evaluate((one) => (window as unknown as Host).tell(one), message);
const view = () => page.frameLocator('iframe').locator('main');
/** Reads the texts of elements with plain spaces. The view puts a non-breaking space between amount and currency. */
const textsOf = async (found: Locator) =>
  (await found.allTextContents()).map((text) => text.replace(/\s/g, ' '));
const sendContent = (text: string, more: object = {}) => {
  const params = { content: [{ type: 'text', text }], ...more };
  return tell({ method: 'ui/notifications/tool-result', params });
};

/** Sends the notifications of a tool call to the view. */
async function sendResult(answer: object, asked: object = {}) {
  await tell({ method: 'ui/notifications/tool-input', params: { arguments: asked } });
  await sendContent(JSON.stringify(answer), { structuredContent: answer });
}

const CUSTOMER = {
  ...{ ...evilCustomer, first_name: 'Ada', last_name: 'Byron', email: 'ada@example.com', phone: null },
  ...{ street: 'Hauptstr. 1', postal_code: '10115', city: 'Berlin', country: 'DE', currency: 'eur' },
  unpaid_invoices: {
    ...{ currency: 'eur', count: 2, total: 1234.5 },
    other_currencies: [{ currency: 'jpy', count: 1, total: 900 }],
  },
  services_by_status: { active: 1, suspended: 2 },
  services_total: 120,
  services: [
    {
      ...{ service_number: 'S1', name: EVIL, domain: null, price: 9.9, ...EUR },
      ...{ billing_interval: 'monthly', next_billing_date: '2026-12-01' },
    },
  ],
  open_sales_documents_total: 0,
  open_sales_documents: [],
  open_tasks: [EVIL],
};

test('the view in an MCP host shows a customer as a card and escapes HTML in the name', async () => {
  await openView();
  expect(await view().getByRole('status').textContent()).toBe('Waiting for the answer…');
  await sendResult(CUSTOMER, { id: 1 });
  await view().getByRole('heading', { name: EVIL, exact: true, level: 1 }).waitFor();
  expect(await textsOf(view().locator('dd'))).toEqual([
    ...['1.234,50 €, 2 invoices900 ¥, 1 invoice', '1 active, 2 suspended', 'Ada Byron', 'ada@example.com'],
    'Hauptstr. 110115 BerlinDeutschland',
  ]);
  const headings = ['Open tasks (1)', 'Active services (1 of 120)'];
  expect(await textsOf(view().getByRole('heading', { level: 2 }))).toEqual(headings);
  const cells = await textsOf(view().getByRole('row').nth(1).getByRole('cell'));
  expect(cells).toEqual([EVIL, '–', '9,90 €', 'monthly', '01.12.2026']);
  expect(await view().locator('img').count()).toBe(0);
  expect(await received()).toContain('ui/notifications/size-changed');
});

test('the view in an MCP host shows unpaid amounts by customer in a table, each in its own currency', async () => {
  await openView();
  const sums = { count: 3, total: 5000, unpaid_count: 2, oldest_due_date: '2026-01-15' };
  const by_customer = [
    { customer: evilCustomer, ...sums, unpaid: 1234.5, ...EUR },
    { customer: { name: 'Two', customer_number: 'K2' }, ...sums, unpaid: 900, currency: 'jpy' },
  ];
  const answer = { page: 2, per_page: 2, total: 5, last_page: 3, has_more: true, next_page: 3, by_customer };
  await sendResult(answer, { summary_by: 'customer', statuses: ['sent', 'overdue'] });
  const table = view().getByRole('table', { name: 'By customer and currency 3–4 of 5' });
  await table.waitFor();
  expect(await textsOf(table.getByRole('columnheader'))).toEqual([
    ...['Customer', 'Unpaid', 'Unpaid invoices', 'Oldest due date', 'Total', 'Invoices'],
  ]);
  expect(await table.getByRole('rowheader').allInnerTexts()).toEqual([`${EVIL}\nK1`, 'Two\nK2']);
  const amounts = table.locator('tbody td:nth-child(2)');
  expect(await textsOf(amounts)).toEqual(['1.234,50 €', '900 ¥']);
  expect(await amounts.first().evaluate((cell) => getComputedStyle(cell).textAlign)).toBe('right');
  await view().getByText('statuses: sent, overdue').waitFor();
});

test('the view in an MCP host shows the chosen columns of invoices, a note if there are none, and other text as it is', async () => {
  await openView({ context: {} });
  const data = [{ number: 'R1', tax: 19, currency: 'eur' }];
  await sendResult({ page: 1, per_page: 25, total: 1, data }, { fields: ['number', 'tax', 'currency'] });
  await view().getByRole('table', { name: 'Invoices 1–1 of 1' }).waitFor();
  expect(await textsOf(view().getByRole('columnheader'))).toEqual(['Number', 'Tax', 'Currency']);
  await sendContent(JSON.stringify({ total: 0, data: [] }));
  await view().getByText('Nothing matches.').waitFor();
  await sendContent(EVIL);
  expect(await view().locator('pre').textContent()).toBe(EVIL);
});

test('the view reports its height to the MCP host before the reader scrolls to it', async () => {
  await openView();
  // Move the view below the screen, where a browser does not report size changes inside a frame.
  await page.evaluate(() => document.body.style.setProperty('padding-top', '5000px'));
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const height = () => page.locator('iframe').evaluate((frame) => frame.clientHeight);
  const before = await height();
  await sendResult(CUSTOMER);
  await view().getByRole('table').waitFor();
  await expect.poll(height).toBeGreaterThan(before);
});

test('the view in an MCP host shows why a tool call failed or was cancelled, and answers a teardown request', async () => {
  await openView();
  await sendContent(`No customer with id ${EVIL}.`, { isError: true });
  await view().getByRole('alert').filter({ hasText: 'No customer with id <img' }).waitFor();
  await tell({ method: 'ui/notifications/tool-cancelled', params: { reason: 'user action' } });
  await view().getByRole('alert').filter({ hasText: 'The call was cancelled: user action' }).waitFor();
  await tell({ id: 9, method: 'ui/resource-teardown', params: {} });
  await expect.poll(messages).toContainEqual({ jsonrpc: '2.0', id: 9, result: {} });
});

test.each([
  ['light', 320],
  ['dark', 320],
  ['dark', 800],
])('the %s view in an MCP host passes axe and fits a width of %i pixels', async (theme, width) => {
  await openView({ width, context: { ...CONTEXT, theme } });
  await sendResult(CUSTOMER);
  await view().getByRole('table').waitFor();
  const [, frame] = page.frames();
  if (!frame) throw new Error('the host has no view');
  expect(await violationsOf(frame)).toEqual([]);
  expect(await frame.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  const background = await frame.evaluate(() => getComputedStyle(document.body).backgroundColor);
  expect(background === 'rgb(26, 29, 35)').toBe(theme === 'dark');
});
