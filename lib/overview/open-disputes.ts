import { count, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { disputes } from '@/db/schema';
import { isOpenDispute } from '../payments/counted-back';

export interface OpenDisputes {
  count: number;
  /** Of them those that Stripe waits for an answer to. */
  unanswered: number;
  /** Until when the first of those is to be answered, where Stripe told. */
  next_due: Date | null;
}

/** Disputes and inquiries that are not decided yet. */
export async function getOpenDisputes(db: Database): Promise<OpenDisputes> {
  const isUnanswered = sql`${disputes.status} in ('needs_response', 'warning_needs_response')`;
  const [found] = await db
    .select({
      count: count(),
      unanswered: sql<number>`(count(*) filter (where ${isUnanswered}))::int`,
      next_due: sql<Date | null>`min(${disputes.evidence_due_at}) filter (where ${isUnanswered})`.mapWith(
        disputes.evidence_due_at,
      ),
    })
    .from(disputes)
    .where(isOpenDispute);
  return found ?? { count: 0, unanswered: 0, next_due: null };
}
