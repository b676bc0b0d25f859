import { expect, test } from 'vitest';
import { comingPresets, pastPresets } from '@/lib/date-presets';

const rangesOf = (presets: { label: string; from: string; to: string }[]) =>
  Object.fromEntries(presets.map(({ label, from, to }) => [label, `${from} ${to}`]));

test('months, quarters and years around a turn of the year', () => {
  expect(rangesOf(pastPresets('2026-01-31'))).toEqual({
    'This month': '2026-01-01 2026-01-31',
    'Last month': '2025-12-01 2025-12-31',
    'This quarter': '2026-01-01 2026-03-31',
    'Last quarter': '2025-10-01 2025-12-31',
    'This year': '2026-01-01 2026-12-31',
    'Last year': '2025-01-01 2025-12-31',
  });
});

test('weeks begin on Monday', () => {
  const sunday = rangesOf(comingPresets('2026-11-29'));
  expect(sunday).toMatchObject({
    'This week': '2026-11-23 2026-11-29',
    'Next week': '2026-11-30 2026-12-06',
    'Next month': '2026-12-01 2026-12-31',
    'Next quarter': '2027-01-01 2027-03-31',
  });
  expect(rangesOf(comingPresets('2026-11-30'))['This week']).toBe('2026-11-30 2026-12-06');
});
