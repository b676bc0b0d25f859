import { type SQL, sql } from 'drizzle-orm';
import { decidedDisputes, disputes, payments, refunds } from '@/db/schema';

/** Open disputes that Stripe still has. The literals match those of the partial index. */
export const isOpenDispute = sql`${disputes.status} not in ${decidedDisputes}
  and ${disputes.provider_gone_at} is null`;

/**
 * What counts as having come back, as `cameBack` has it: one row for each succeeded refund and each lost dispute, with
 * the instant at which the money went. A refund went when it was issued; a disputed amount when the bank withdrew it,
 * and else when the dispute was opened.
 *
 * Columns: payment_id, currency, amount, at.
 */
export const COUNTED_BACK: SQL = sql`
  select ${refunds.payment_id}, ${refunds.currency}, ${refunds.amount}, ${refunds.issued_at} as at from ${refunds}
  where ${refunds.status} = 'succeeded' or (${refunds.status} = 'pending' and ${refunds.source} <> 'stripe')
  union all
  select ${disputes.payment_id}, ${disputes.currency}, ${disputes.amount},
    coalesce(${disputes.funds_withdrawn_at}, ${disputes.issued_at}) as at from ${disputes}
  where ${disputes.status} = 'lost' or (${disputes.status} = 'prevented'
    and ${disputes.funds_withdrawn_at} is not null and ${disputes.funds_returned_at} is null)`;

/**
 * What came back in a time, and with it all that came back of the same payments before: what is more than was paid does
 * not count, and which part that is shows only over all of it.
 *
 * Columns: payment_id, currency, at, and `back`, the part of the amount that counts. Only payments in their own
 * currency that were received: completed ones and refunded ones.
 */
export function cameBackSince(since: Date): SQL {
  return sql`
    select c.payment_id, c.currency, c.at,
      least(c.so_far, p.amount) - least(c.so_far - c.amount, p.amount) as back
    from (
      select payment_id, currency, amount, at,
        sum(amount) over (partition by payment_id, currency order by at rows unbounded preceding) as so_far
      from (${COUNTED_BACK}) counted
      where payment_id in (${paymentsSince(since)})
    ) c
    join ${payments} p on p.id = c.payment_id and p.currency = c.currency
    where p.status in ('completed', 'refunded') and c.at >= ${since.toISOString()}::timestamptz`;
}

/** The payments of which something came back, or was asked back, since then. */
export function paymentsSince(since: Date): SQL {
  const at = sql`${since.toISOString()}::timestamptz`;
  return sql`
    select ${refunds.payment_id} from ${refunds} where ${refunds.issued_at} >= ${at}
    union
    select ${disputes.payment_id} from ${disputes}
    where ${disputes.issued_at} >= ${at} or ${disputes.funds_withdrawn_at} >= ${at}`;
}
