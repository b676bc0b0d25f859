import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { pageBounds, pageFields, pageRequest, toPage } from '@/lib/page';

describe('pages', () => {
  test('are the first of 25 rows unless asked otherwise', () => {
    expect(pageRequest({})).toEqual({ page: 1, per_page: 25 });
    expect(pageRequest({ page: 3, per_page: 10 })).toEqual({ page: 3, per_page: 10 });
  });

  test('begin after the rows of those before', () => {
    expect(pageBounds({ page: 1, per_page: 25 })).toEqual({ limit: 25, offset: 0 });
    expect(pageBounds({ page: 4, per_page: 10 })).toEqual({ limit: 10, offset: 30 });
  });

  test.each([
    [0, 1],
    [1, 1],
    [25, 1],
    [26, 2],
    [50, 2],
    [51, 3],
  ])('%d rows are %d pages', (total, last_page) => {
    expect(toPage({ page: 1, per_page: 25 }, total, [])).toEqual({
      page: 1,
      per_page: 25,
      total,
      last_page,
      data: [],
    });
  });

  const fields = z.object(pageFields);

  test.each([{}, { page: 1 }, { per_page: 1 }, { per_page: 100 }, { page: 20_000_000 }])(
    '%j is valid',
    (input) => {
      expect(fields.safeParse(input).success).toBe(true);
    },
  );

  test.each([
    { page: 0 },
    { page: -1 },
    { page: 1.5 },
    { page: '1' },
    { page: 20_000_001 },
    { per_page: 0 },
    { per_page: 101 },
    { per_page: null },
  ])('%j is not', (input) => {
    expect(fields.safeParse(input).success).toBe(false);
  });

  test('the last page there may be has an offset that PostgreSQL takes', () => {
    expect(pageBounds({ page: 20_000_000, per_page: 100 }).offset).toBeLessThan(2 ** 31);
  });
});
