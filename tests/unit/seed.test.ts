import { expect, test } from 'vitest';
import { buildRows } from '@/db/seed/build';
import { addMonths } from '@/db/seed/calendar';
import { createChance } from '@/db/seed/chance';
import { slugOf } from '@/db/seed/names';

const OPTIONS = { today: '2026-11-21', timeZone: 'Europe/Berlin' };

test('the same day gives the same rows', () => {
  expect(buildRows(OPTIONS)).toEqual(buildRows(OPTIONS));
});

test('another seed gives another company', () => {
  expect(buildRows({ ...OPTIONS, seed: 1 }).customers).not.toEqual(buildRows(OPTIONS).customers);
});

test('what one part draws does not shift another', () => {
  const chance = createChance(1);
  const alone = chance.branch('b').int(0, 1e9);
  chance.branch('a').int(0, 1e9);
  expect(chance.branch('b').int(0, 1e9)).toBe(alone);
});

test.each([
  ['2026-01-31T10:00:00Z', 1, '2026-02-28T10:00:00.000Z'],
  ['2028-02-29T10:00:00Z', -12, '2027-02-28T10:00:00.000Z'],
  ['2026-12-15T10:00:00Z', 1, '2027-01-15T10:00:00.000Z'],
])('%s and %i months', (instant, months, expected) => {
  expect(addMonths(new Date(instant), months).toISOString()).toBe(expected);
});

test.each([
  ['Bäckerei Größlinger', 'baeckerei-groesslinger'],
  ["van 't Hoff", 'van-t-hoff'],
  ["O'Brien & Co.", 'obrien-co'],
  ['Łódź', 'lodz'],
  ['株式会社', ''],
])('%j makes the address %j', (name, slug) => {
  expect(slugOf(name)).toBe(slug);
});
