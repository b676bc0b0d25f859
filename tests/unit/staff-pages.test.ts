import { readdirSync, readFileSync } from 'node:fs';
import { isPgEnum } from 'drizzle-orm/pg-core';
import { expect, test } from 'vitest';
import { formatInstant, formatSecond, formatTime } from '@/app/_components/format';
import { STATUS_COLORS, statusColor } from '@/app/admin/_components/display/values';
import { csvFile, fileResponse, listFile } from '@/app/admin/_components/lists/csv';
import { navigationFor } from '@/app/admin/_components/page/navigation';
import { listHref } from '@/app/admin/_components/search/list-href';
import { PAYMENTS } from '@/app/admin/payments/list';
import { isSilent, isUnderWay } from '@/app/admin/reconciliation/run-text';
import * as schema from '@/db/schema';
import type { Runtime } from '@/lib/runtime';
import { listAdminRoutes } from '../e2e/support/server-actions';

test('the navigation has fewer entries for staff without admin rights', () => {
  const sizes = (isAdmin: boolean) => navigationFor(isAdmin).map(({ entries }) => entries.length);
  expect(sizes(true)).toEqual([5, 9, 4, 9]);
  expect(sizes(false)).toEqual([5, 9, 3, 2]);
});

test('every entry of the navigation leads to an existing page', () => {
  const pages = listAdminRoutes('1').map(({ path }) => path);
  const hrefs = navigationFor(true).flatMap(({ entries }) => entries.map(({ href }) => href));
  expect(hrefs.filter((href) => !pages.includes(href))).toEqual([]);
});

test('every status has a colour in STATUS_COLORS', () => {
  const states = Object.entries(schema).flatMap(([name, value]): string[] =>
    /(Status|Outcome)$/.test(name) && isPgEnum(value) ? [...value.enumValues] : [],
  );
  expect(states).toContain('needs_response');
  expect(states.filter((state) => !STATUS_COLORS.has(state))).toEqual([]);
});

test.each([
  [1, true, false],
  [4, false, false],
  [7, false, true],
])(
  'a reconciliation run whose last heartbeat was %i minutes ago blocks "Run now": %s, and has a warning: %s',
  (minutes, blocks, warns) => {
    const now = new Date('2026-12-01T03:00:00Z');
    const run = { status: 'running', heartbeat_at: new Date(now.getTime() - minutes * 60_000) } as const;
    expect([isUnderWay(run, now), isSilent(run, now)]).toEqual([blocks, warns]);
  },
);

test.each([
  ['offline', 'red'],
  ['maintenance', 'orange'],
  ['suspended', 'orange'],
  ['decommissioned', 'gray'],
  ['accepted', 'green'],
])('the status %s has the colour %s', (state, color) => {
  expect(statusColor(state)).toBe(color);
});

test.each([
  ['customer', 'Manifold', '/admin/customers?q=Manifold'],
  ['customer', 'A Manifold', '/admin/customers?q=A+Manifold'],
  ['payment', 'wren-', '/admin/payments?reference=wren-'],
  ['service', 'wren.example', '/admin/services?domain=wren.example'],
] as const)('%s results for “%s” link to %s', (kind, text, href) => {
  expect(listHref(kind, text)).toBe(href);
});

test.each([
  ['customer', 'Ada Lovelace'],
  ['payment', '392.00'],
  ['payment', 'pi_123'],
  ['service', 'S-1000'],
  ['invoice', 'R-2026'],
] as const)('%s results for “%s” have no link, because no filter finds the same records', (kind, text) => {
  expect(listHref(kind, text)).toBeNull();
});

test('a displayed time includes its time zone', () => {
  const summer = new Date('2026-07-01T12:05:33Z');
  const winter = '2026-12-01T12:05:33Z';
  expect(formatInstant(summer, 'Europe/Berlin')).toBe('1 Jul 2026, 14:05 CEST');
  expect(formatInstant(winter, 'Europe/Berlin')).toBe('1 Dec 2026, 13:05 CET');
  expect(formatSecond(winter, 'UTC')).toBe('1 Dec 2026, 12:05:33 UTC');
  expect(formatTime(summer, 'Europe/Vienna')).toBe('14:05 CEST');
});

// `max-width: 48em` and Mantine's `min-width: 48em` would both apply at exactly 768 px.
test('style sheets write width conditions in range syntax', () => {
  const files = readdirSync('app', { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.css'),
  );
  expect(files.length).toBeGreaterThan(8);
  const old = /@(media|container)[^{]*(max|min)-width/;
  expect(files.filter((file) => old.test(readFileSync(`app/${file}`, 'utf8')))).toEqual([]);
});

test.each([
  ['statement-K 1', 'attachment; filename="statement-K 1.csv"'],
  ['K"1\\2', `attachment; filename="K_1_2.csv"; filename*=UTF-8''K%221%5C2.csv`],
  ["K'Ä", `attachment; filename="K'_.csv"; filename*=UTF-8''K%27%C3%84.csv`],
])('the Content-Disposition header of a download names the file %s', (name, expected) => {
  const { headers } = fileResponse(csvFile(name, (async function* () {})()));
  expect(headers.get('content-disposition')).toBe(expected);
});

test('the CSV file of a list uses the first value of a repeated parameter, as the list page does', async () => {
  const url = new URL('https://admin.example.com/admin/export/payments?status=failed&status=unknown');
  const opened = await listFile(PAYMENTS).payments?.(url, {} as Runtime, '2026-03-10');
  expect(opened?.name).toBe('payments-2026-03-10.csv');
});
