import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';

/** Age groups of unpaid invoices, with the first and the last day of each, counted from the due date. */
const GROUPS = {
  'not-due': [null, 0],
  '1-30': [1, 30],
  '31-60': [31, 60],
  '61-90': [61, 90],
  'over-90': [91, null],
} as const satisfies Record<string, AgeRange>;

/** The first and the last day after the due date. Null for a range without that end. */
type AgeRange = readonly [from: number | null, to: number | null];
export type AgeGroup = keyof typeof GROUPS;

/** The age groups, the youngest first. */
export const AGE_GROUPS = Object.keys(GROUPS) as [AgeGroup, ...AgeGroup[]];

/** Ranges that a filter offers beside the groups. */
const WIDER = { 'over-30': [31, null], 'over-60': [61, null] } as const satisfies Record<string, AgeRange>;

/** Values of the age filter. */
export const AGE_RANGES = [...AGE_GROUPS, ...(Object.keys(WIDER) as (keyof typeof WIDER)[])] as const;
export type AgeName = (typeof AGE_RANGES)[number];

/** Returns the first and the last day after the due date of an age. */
export const rangeOfAge = (age: AgeName): AgeRange => ({ ...GROUPS, ...WIDER })[age];

/** Groups of earlier releases, which old links and bookmarks still name, with the group that contains each of them. */
const FORMER: Record<string, AgeGroup> = { '1-14': '1-30', '15-30': '1-30' };

/** Returns the present name of an age that an old link may name. */
export const presentAge = (age: unknown): unknown =>
  typeof age === 'string' && Object.hasOwn(FORMER, age) ? FORMER[age] : age;

/** Returns the age group of an invoice. @param days days since its due date; negative before that date */
export function ageGroupOf(days: number): AgeGroup {
  const ends = (age: AgeGroup) => GROUPS[age][1] ?? Number.POSITIVE_INFINITY;
  return AGE_GROUPS.find((age) => days <= ends(age)) ?? 'over-90';
}

/** Returns the SQL of `ageGroupOf`. @param due the due date; @param today calendar date in the service's time zone */
export function ageGroupSql(due: SQLWrapper, today: string): SQL<AgeGroup> {
  const whens = AGE_GROUPS.map((age) => {
    const last = GROUPS[age][1];
    return last === null
      ? sql`else ${sql.raw(`'${age}'`)}`
      : sql`when ${due} >= ${today}::date - ${sql.raw(String(last))} then ${sql.raw(`'${age}'`)}`;
  });
  return sql`(case ${sql.join(whens, sql` `)} end)`;
}
