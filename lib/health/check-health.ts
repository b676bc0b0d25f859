import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, pgErrorCode, rows } from '@/db/database';
import type { runStatus } from '@/db/schema';
import manifest from '@/package.json';
import type { Logger } from '../log';

/** Nothing here tells who we are connected to, how much there is, or what went wrong. */
export const health = z.object({
  status: z.enum(['ok', 'degraded', 'down']),
  version: z.string(),
  database: z.enum(['ok', 'unreachable']),
  checks: z.object({
    reconciliation: z
      .enum(['ok', 'none', 'overdue', 'failed', 'unknown'])
      .meta({ description: 'none: no run yet; overdue: the last one began more than 25 hours ago.' }),
    inbox: z
      .enum(['ok', 'failures', 'unknown'])
      .meta({ description: 'failures: events that were received and not processed.' }),
  }),
});
export type Health = z.infer<typeof health>;

type Found = {
  status: (typeof runStatus.enumValues)[number] | null;
  overdue: boolean | null;
  failures: boolean;
};

/** How the service is. Never throws: a database that fails or takes longer than `timeout` ms is down. */
export async function checkHealth(
  { db, log, now }: { db: Database; log: Logger; now(): Date },
  timeout = 3000,
): Promise<Health> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Health>((resolve) => {
    timer = setTimeout(() => resolve(down()), timeout);
  });
  try {
    return await Promise.race([ask(db, now()), late]);
  } catch (error) {
    log.error({ code: pgErrorCode(error) }, 'health check failed');
    return down();
  } finally {
    clearTimeout(timer);
  }
}

/** The health of a service whose database does not answer. */
export function down(): Health {
  return {
    status: 'down',
    version: manifest.version,
    database: 'unreachable',
    checks: { reconciliation: 'unknown', inbox: 'unknown' },
  };
}

async function ask(db: Database, now: Date): Promise<Health> {
  const [found] = await rows<Found>(
    db,
    sql`
      select run.status, run.started_at < ${now.toISOString()}::timestamptz - interval '25 hours' as overdue,
        exists (
          select from stripe_events
          where outcome = 'failed' or (outcome = 'ignored' and warnings <> '[]')
        ) as failures
      from (select 1) as one
      left join lateral (
        select status, started_at from reconciliation_runs order by started_at desc, id desc limit 1
      ) as run on true`,
  );
  if (!found) return down();
  const checks: Health['checks'] = {
    reconciliation: reconciliationOf(found),
    inbox: found.failures ? 'failures' : 'ok',
  };
  const well = ['ok', 'none'].includes(checks.reconciliation) && checks.inbox === 'ok';
  return { status: well ? 'ok' : 'degraded', version: manifest.version, database: 'ok', checks };
}

function reconciliationOf({ status, overdue }: Found): Health['checks']['reconciliation'] {
  if (status === null) return 'none';
  if (overdue) return 'overdue';
  return status === 'failed' || status === 'completed_with_errors' ? 'failed' : 'ok';
}
