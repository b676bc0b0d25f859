import { randomBytes, randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { pastPresets } from '@/lib/dates';
import { addStaffUser, removeStaffUser } from '@/lib/staff/manage-staff';
import { ensureBuild, NEXT } from '../support/next-build';
import { BENCH_ACTOR, SERVER } from './database';
import { writeSection } from './measure';
import { GROWTH, openFilled } from './scale-fill';
import { serveCopy } from './serve';

// Measures most lists of the staff pages over HTTP, on the large database of the scale bench.

const TIMES = 5;
const MOST_MS = 300;
const PERSON = { email: `bench-${process.pid}@example.com`, password: 'correct horse battery staple' };

const only = process.env.BENCH_ONLY;
const wanted = (path: string) => only === undefined || path.includes(only);

/** If `deep` is true, the bench also measures the list's next page. */
interface MeasuredPage {
  path: string;
  deep?: boolean;
}

const today = new Date().toISOString().slice(0, 10);
const PRESETS = pastPresets(today).map(({ from, to }) => `from=${from}&to=${to}`);
const CUSTOMERS = ['K10042', 'druckerei 77', 'gmbh'].map((text) => `customer=${encodeURIComponent(text)}`);

/**
 * The pages to measure. They include most lists, in each order and with common filters, and other pages that staff open
 * every day.
 */
const PAGES: MeasuredPage[] = [
  ...['', '?days=365'].map((query) => ({ path: `/admin${query}` })),
  ...listOf(
    'payments',
    'date amount reference',
    'status=failed status=pending status=completed status=refunded_in_part status=disputed',
    'status=failed&sort=amount status=failed&sort=reference status=refunded_in_part&sort=amount',
    'customer=K10042&sort=reference customer=druckerei%2077&sort=-amount reference=77777&sort=amount',
    'from=2018-01-01&to=2018-12-31&sort=amount reference=77777 invoice=R-4711',
    `status=failed&${PRESETS[1]} ${PRESETS[1]}&sort=-amount ${PRESETS[5]}&sort=amount`,
    ...PRESETS,
    ...CUSTOMERS,
  ),
  ...listOf(
    'invoices',
    'date amount',
    'status=open status=sent status=overdue status=paid status=draft status=refunded_in_part',
    'page=200000 status=open&sort=-amount status=draft&sort=amount number=R-4711',
    `${PRESETS[1]}&sort=-amount from=2018-01-01&to=2018-12-31&sort=amount`,
    'status=draft&from=2018-01-01&to=2018-12-31&sort=-amount',
    ...PRESETS,
    ...CUSTOMERS,
  ),
  ...listOf(
    'customers',
    'created number name',
    'q=druckerei q=gmbh q=example q=an&sort=name q=zzzzqq q=an',
    'status=active status=blocked country=AT country=AT&sort=name status=blocked&sort=name',
  ),
  ...listOf(
    'services',
    'number next-billing',
    'page=60000 status=active status=draft&sort=next-billing status=cancelled&sort=next-billing',
    'type=license type=license&sort=-next-billing server=%231 domain=site4711',
    PRESETS[0] ?? '',
    ...CUSTOMERS,
  ),
  ...listOf(
    'subscriptions',
    'created next-billing',
    'status=past_due status=past_due&sort=next-billing status=cancelled&sort=next-billing',
    'status=unpaid items=unlinked checkout=waiting',
    ...CUSTOMERS,
  ),
  ...listOf(
    'sales-documents',
    'date amount',
    'page=20000 type=offer&status=sent status=expired&sort=-amount',
    ...PRESETS,
    ...CUSTOMERS,
  ),
  ...listOf(
    'webhooks',
    '',
    'outcome=failed outcome=stale outcome=processed type=invoice.paid type=other id=in_4711',
    ...PRESETS,
  ),
  ...listOf('servers', ''),
  ...listOf(
    'overdue',
    'open due invoices not-due 1-30 31-60 61-90 over-90 payment note',
    'currency=eur currency=usd',
    ...CUSTOMERS,
  ),
  ...listOf('overdue/invoices', 'due open', 'age=over-30 age=1-30 currency=eur currency=usd'),
  ...listOf('overdue/reminders', 'due', 'level=1 level=2', ...CUSTOMERS),
  ...['', '?months=24', '?months=60'].map((query) => ({ path: `/admin/reports${query}` })),
  ...listOf('reports/postings', '', 'record=refund record=payment&month=2026-10 currency=usd'),
  ...listOf('reports/customers', '', 'month=2026-10&measure=mrr'),
  ...listOf('renewals', '', 'of=subscriptions from=2026-12-01&to=2026-12-31 from=2027-11-01'),
  { path: '/admin/customers/17' },
  ...['druckerei', 'zzzzqq', 'an', 'Müller', '392.00', 'R-4711', '4711', 'site4711'].map((text) => ({
    path: `/admin/search?q=${encodeURIComponent(text)}`,
  })),
];

const FILES = [
  ...['payments', 'payments?status=failed', 'invoices', 'invoices?status=open', 'customers', 'services'],
  ...['subscriptions', 'sales-documents', 'webhooks', 'servers', 'overdue', 'overdue-invoices', 'renewals'],
  ...['overdue-reminders', 'postings'],
].map((file) => `/admin/export/${file}`);

const HEADINGS = ['path', 'requests', 'slowest ms', 'the slowest request'];

await ensureBuild();
const { url, handle } = await openFilled(SERVER, GROWTH);
const world = { db: handle.db, now: () => new Date(), newId: randomUUID, randomBytes };
const server = await serveCopy(NEXT.cwd, url, { LOG_LEVEL: 'silent' });
try {
  await addStaffUser(world, { ...PERSON, role: 'admin' }, BENCH_ACTOR);
  const cookie = await signIn();
  const found: [string, number][] = [];
  const note = (name: string, ms: number) => {
    found.push([name, ms]);
    console.log(`${ms > MOST_MS ? '!' : ' '} ${Math.round(ms).toString().padStart(6)} ms  ${name}`);
  };
  for (const { path, deep } of PAGES.filter((page) => wanted(page.path))) {
    const first = await timed(path, cookie);
    note(path, first.ms);
    const next = deep && nextOf(first.text);
    if (next) note(`${path}, next page`, (await timed(next, cookie)).ms);
  }
  for (const path of FILES.filter(wanted)) note(`${path}, first byte`, (await timed(path, cookie, true)).ms);
  if (only === undefined)
    await writeSection('Staff pages', 'pages', describe(), [HEADINGS, ...slowest(found)]);
} finally {
  await server.stop();
  await removeStaffUser(world, PERSON, BENCH_ACTOR).catch(() => {});
  await handle.close();
}

/** Returns a row for each path, with its slowest request. */
function slowest(found: [name: string, ms: number][]): string[][] {
  const pathOf = (name: string) => name.split(/[?,]/)[0] ?? '';
  return [...new Set(found.map(([name]) => pathOf(name)))].map((path) => {
    const ofPath = found.filter(([name]) => pathOf(name) === path).toSorted(([, a], [, b]) => b - a);
    const [[name, ms] = [path, 0]] = ofPath;
    const query = name.slice(path.length).replace(/^, /, '');
    const shown = query.startsWith('?') ? `\`${query}\`` : query;
    return [`\`${path}\``, String(ofPath.length), ms.toFixed(0), shown];
  });
}

async function signIn(): Promise<string> {
  const answer = await fetch(`${server.url}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: server.url },
    body: JSON.stringify(PERSON),
  });
  if (!answer.ok) throw new Error(`signing in answered ${answer.status}`);
  return answer.headers
    .getSetCookie()
    .map((text) => text.split(';')[0])
    .join('; ');
}

/** Returns the link to the next page in the footer of a list. */
function nextOf(html: string): string | undefined {
  const link = html.match(/<a [^>]*>/g)?.find((tag) => tag.includes('rel="next"'));
  return /href="([^"]*)"/.exec(link ?? '')?.[1]?.replaceAll('&amp;', '&');
}

/** Returns the median duration of `TIMES` requests. Does not count the first request, which is sent before them. */
async function timed(path: string, cookie: string, firstByte = false): Promise<{ ms: number; text: string }> {
  const times: number[] = [];
  let text = '';
  for (let time = 0; time <= TIMES; time += 1) {
    const begun = performance.now();
    const answer = await fetch(new URL(path, server.url), { headers: { cookie }, redirect: 'manual' });
    if (answer.status !== 200 && answer.status !== 307) throw new Error(`${path} answered ${answer.status}`);
    if (firstByte) {
      const reader = answer.body?.getReader();
      await reader?.read();
      times.push(performance.now() - begun);
      await reader?.cancel();
    } else {
      text = await answer.text();
      times.push(performance.now() - begun);
    }
  }
  const [, ...measured] = times;
  return { ms: measured.sort((a, b) => a - b)[Math.floor(TIMES / 2)] as number, text };
}

function describe(): string {
  return `The time to load each list, order, filter and worklist of the staff pages over HTTP, in milliseconds. It is
the median of ${TIMES} requests for the whole page, after one request that is not measured. The table has the slowest
request of each path. Database L has 1,000,000 customers, 3,000,000 services, 500,000 subscriptions, 10,000,000
invoices, 10,000,000 payments, 1,000,000 sales documents and 2,000,000 events. The limit is ${MOST_MS}.`;
}

/**
 * Returns the pages of a list: without parameters, in each order, and with each filter. Orders and filters are
 * separated by spaces.
 */
function listOf(name: string, orders: string, ...filters: string[]): MeasuredPage[] {
  const path = `/admin/${name}`;
  const split = (text: string) => text.split(' ').filter(Boolean);
  return [
    { path, deep: true },
    ...split(orders).flatMap((order) => [
      { path: `${path}?sort=${order}`, deep: true },
      { path: `${path}?sort=-${order}`, deep: true },
    ]),
    ...filters.flatMap(split).map((filter) => ({ path: `${path}?${filter}` })),
  ];
}
