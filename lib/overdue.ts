import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';

/** Statuses of sent invoices that are not paid yet. */
export const UNPAID_STATUSES = ['sent', 'overdue'] as const;
type UnpaidStatus = (typeof UNPAID_STATUSES)[number];

export const isUnpaid = (status: string): boolean => UNPAID_STATUSES.some((one) => one === status);

/** The fields that can make an invoice overdue. `paymentFailed` and `uncollectible` are false for our own invoices. */
interface Owed {
  due_date: string | null;
  paymentFailed?: boolean;
  uncollectible?: boolean;
}

/**
 * Returns the status of a sent, unpaid invoice. It is overdue from the day after its due date, or immediately if a
 * payment has failed or the invoice was written off.
 *
 * @param today calendar date in the time zone of the service
 */
export function unpaidStatus({ due_date, paymentFailed, uncollectible }: Owed, today: string): UnpaidStatus {
  const isPastDue = due_date !== null && due_date < today;
  return uncollectible || paymentFailed || isPastDue ? 'overdue' : 'sent';
}

/** Returns an SQL condition that is true if the due date has passed. */
export const isPastDueSql = (dueDate: SQLWrapper, today: SQLWrapper): SQL => sql`${dueDate} < ${today}`;

/**
 * Returns the status of a stored invoice if Stripe's new status is not applied. A failed payment changes `sent` to
 * `overdue`. A due date that has passed does not change the status.
 */
export function keptStatus<Status extends string>(
  status: Status,
  paymentFailed: boolean,
): Status | UnpaidStatus {
  return status === 'sent' && paymentFailed ? 'overdue' : status;
}

/** Age groups of unpaid invoices, as ranges of days after the due date. */
const GROUPS = {
  'not-due': [null, 0],
  '1-30': [1, 30],
  '31-60': [31, 60],
  '61-90': [61, 90],
  'over-90': [91, null],
} as const satisfies Record<string, AgeRange>;

/** The first and the last day of a range, in days after the due date. Null if the range is open at that end. */
type AgeRange = readonly [from: number | null, to: number | null];
export type AgeGroup = keyof typeof GROUPS;

/** The age groups, the youngest first. */
export const AGE_GROUPS = Object.keys(GROUPS) as [AgeGroup, ...AgeGroup[]];

/** Ranges that a filter offers in addition to the groups. */
const WIDER = { 'over-30': [31, null], 'over-60': [61, null] } as const satisfies Record<string, AgeRange>;

/** Values of the age filter. */
export const AGE_RANGES = [...AGE_GROUPS, ...(Object.keys(WIDER) as (keyof typeof WIDER)[])] as const;
export type AgeName = (typeof AGE_RANGES)[number];

/** Returns the range of an age filter, in days after the due date. */
export const rangeOfAge = (age: AgeName): AgeRange => ({ ...GROUPS, ...WIDER })[age];

/**
 * Age groups of earlier releases, which old links and bookmarks still contain, each with the current group that
 * includes it.
 */
const FORMER: Record<string, AgeGroup> = { '1-14': '1-30', '15-30': '1-30' };

/** Converts the age group of an old link to its current name. Returns any other value unchanged. */
export const presentAge = (age: unknown): unknown =>
  typeof age === 'string' && Object.hasOwn(FORMER, age) ? FORMER[age] : age;

/** Returns the age group of an invoice. @param days days since its due date; negative before that date */
export function ageGroupOf(days: number): AgeGroup {
  const ends = (age: AgeGroup) => GROUPS[age][1] ?? Number.POSITIVE_INFINITY;
  return AGE_GROUPS.find((age) => days <= ends(age)) ?? 'over-90';
}

/**
 * Returns the SQL of `ageGroupOf`.
 *
 * @param due the due date
 * @param today calendar date in the service's time zone
 */
export function ageGroupSql(due: SQLWrapper, today: string | SQL): SQL<AgeGroup> {
  const whens = AGE_GROUPS.map((age) => {
    const last = GROUPS[age][1];
    return last === null
      ? sql`else ${sql.raw(`'${age}'`)}`
      : sql`when ${due} >= ${today}::date - ${sql.raw(String(last))} then ${sql.raw(`'${age}'`)}`;
  });
  return sql`(case ${sql.join(whens, sql` `)} end)`;
}
