import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { rows } from '@/db/database';
import { overdueFilters } from '@/lib/invoices/overdue-worklist';
import { AGE_GROUPS, AGE_RANGES, ageGroupOf, ageGroupSql, presentAge, rangeOfAge } from '@/lib/overdue';
import { useDatabase } from '../support/database';

const TODAY = '2026-11-29';
const EXAMPLES = [
  [-400, 'not-due'],
  [-1, 'not-due'],
  [0, 'not-due'],
  [1, '1-30'],
  [30, '1-30'],
  [31, '31-60'],
  [60, '31-60'],
  [61, '61-90'],
  [90, '61-90'],
  [91, 'over-90'],
  [4000, 'over-90'],
] as const;

describe('the age of an unpaid invoice', () => {
  const base = useDatabase();

  test.each(EXAMPLES)('an invoice %d days after its due date is in the group %s', (days, group) => {
    expect(ageGroupOf(days)).toBe(group);
  });

  test('SQL puts every day into the same group as the rule', async () => {
    const days = Array.from({ length: 200 }, (_, i) => i - 50);
    const found = await rows<{ days: number; age: string }>(
      base.db,
      sql`select days, ${ageGroupSql(sql`(${TODAY}::date - days)`, TODAY)} as age
        from unnest(${`{${days}}`}::int[]) as days order by days`,
    );
    expect(found).toEqual(days.map((one) => ({ days: one, age: ageGroupOf(one) })));
  });

  test.each(AGE_RANGES)('the filter %s holds exactly the days of its groups', (age) => {
    const [from, to] = rangeOfAge(age);
    const within = (days: number) => (from === null || days >= from) && (to === null || days <= to);
    for (const [days, group] of EXAMPLES) {
      const first = Number(/\d+/.exec(age)?.[0] ?? Number.NaN);
      const isIts = AGE_GROUPS.some((one) => one === age) ? group === age : days > first;
      expect([days, within(days)]).toEqual([days, isIts]);
    }
  });

  test.each([
    ['1-14', '1-30'],
    ['15-30', '1-30'],
    ['31-60', '31-60'],
    ['over-60', 'over-60'],
    ['over-30', 'over-30'],
    ['not-due', 'not-due'],
  ])('an old link to the age %s filters by %s', (old, present) => {
    expect(presentAge(old)).toBe(present);
    expect(overdueFilters.parse({ age: old }).age).toBe(present);
  });

  test('an unknown age is refused with the list of the ages', () => {
    expect(() => overdueFilters.parse({ age: '1-99' })).toThrow(/must be one of not-due, 1-30/);
  });
});
