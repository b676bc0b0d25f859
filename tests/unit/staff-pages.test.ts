import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { formatInstant, formatSecond, formatTime } from '@/app/_components/format';
import { STATUS_COLORS, statusColor } from '@/app/admin/_components/display/status';
import { navigationFor } from '@/app/admin/_components/page/navigation';
import * as schema from '@/db/schema';
import { listAdminRoutes } from '../e2e/support/server-actions';

describe('the navigation', () => {
  test('has four groups, and a member of staff without admin rights sees fewer entries', () => {
    const sizes = (isAdmin: boolean) => navigationFor(isAdmin).map(({ entries }) => entries.length);
    expect(sizes(true)).toEqual([4, 7, 4, 5]);
    expect(sizes(false)).toEqual([4, 7, 3, 2]);
  });

  test('leads to pages that exist', () => {
    const pages = listAdminRoutes('1').map(({ path }) => path);
    const hrefs = navigationFor(true).flatMap(({ entries }) => entries.map(({ href }) => href));
    expect(hrefs.filter((href) => !pages.includes(href))).toEqual([]);
  });
});

describe('a state', () => {
  const enums = [
    schema.customerStatus,
    schema.serverStatus,
    schema.serviceStatus,
    schema.subscriptionStatus,
    schema.invoiceStatus,
    schema.salesDocumentStatus,
    schema.paymentStatus,
    schema.refundStatus,
    schema.disputeStatus,
    schema.eventOutcome,
    schema.runStatus,
    schema.changeOutcome,
    schema.toolCallOutcome,
  ];

  test('has a colour that was chosen for it', () => {
    const states = enums.flatMap(({ enumValues }): string[] => [...enumValues]);
    expect(states.filter((state) => !STATUS_COLORS.has(state))).toEqual([]);
  });

  test.each([
    ['offline', 'red'],
    ['maintenance', 'orange'],
    ['suspended', 'orange'],
    ['decommissioned', 'gray'],
    ['accepted', 'green'],
  ])('%s is %s', (state, color) => {
    expect(statusColor(state)).toBe(color);
  });
});

describe('a time', () => {
  const summer = new Date('2026-07-01T12:05:33Z');
  const winter = '2026-12-01T12:05:33Z';

  test.each([
    [formatInstant(summer, 'Europe/Berlin'), '1 Jul 2026, 14:05 CEST'],
    [formatInstant(winter, 'Europe/Berlin'), '1 Dec 2026, 13:05 CET'],
    [formatSecond(winter, 'UTC'), '1 Dec 2026, 12:05:33 UTC'],
    [formatTime(summer, 'Europe/Vienna'), '14:05 CEST'],
  ])('%s names its zone', (text, expected) => {
    expect(text).toBe(expected);
  });
});

describe('style sheets', () => {
  // With `max-width: 48em` beside Mantine's `min-width: 48em` both apply at exactly 768 px.
  test('compare widths in range syntax, so that two rules never meet at one width', () => {
    const files = readdirSync('app', { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.css'),
    );
    expect(files.length).toBeGreaterThan(8);
    const old = files.filter((file) =>
      /@(media|container)[^{]*(max|min)-width/.test(readFileSync(`app/${file}`, 'utf8')),
    );
    expect(old).toEqual([]);
  });
});
