import { asc, count, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { invoices, subscriptions } from '@/db/schema';
import { dueOn } from '../invoices/list-for-staff';
import { literal } from '../page-query';
import type { CurrencySum } from './currency-sum';
import { sumOpenInvoices } from './open-invoices';

/** What customers are behind with. */
export interface Attention {
  /** The currency of most first. */
  overdue: CurrencySum[];
  /** The day on which the first overdue invoice was due. */
  oldest: string | null;
  /** Subscriptions whose payment Stripe could not collect. */
  past_due: number;
}

/** What staff should look at, though the sync is in order. */
export async function getAttention(db: Database): Promise<Attention> {
  const { overdue } = await sumOpenInvoices(db);
  const [first] = await db
    .select({ due: sql<string>`${dueOn}::text` })
    .from(invoices)
    .where(sql`${invoices.status} = 'overdue'`)
    .orderBy(asc(dueOn))
    .limit(literal(1));
  const [found] = await db
    .select({ past_due: count() })
    .from(subscriptions)
    .where(sql`${subscriptions.status} = 'past_due'`);
  return { overdue, oldest: first?.due ?? null, past_due: found?.past_due ?? 0 };
}
