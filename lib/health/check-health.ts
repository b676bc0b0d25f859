import { z } from 'zod';
import { type Database, pgErrorCode } from '@/db/database';
import manifest from '@/package.json';
import type { Env } from '../env';
import type { Logger } from '../log';
import { type Alert, alert, listAlerts } from './list-alerts';

/** Without its alerts it tells neither how much there is nor what went wrong. */
export const health = z.object({
  status: z.enum(['ok', 'degraded', 'down']),
  version: z.string(),
  database: z.enum(['ok', 'unreachable', 'not_migrated']).meta({
    description:
      'not_migrated: it is older than the service; npm run db:migrate mends it, or says what does.',
  }),
  checks: z.object({
    reconciliation: z.enum(['ok', 'none', 'overdue', 'silent', 'failed', 'drift', 'unknown']).meta({
      description:
        'none: no run yet; overdue: the daily one is late; silent: the one under way gives no sign of life; drift: the last one repaired a lot.',
    }),
    inbox: z
      .enum(['ok', 'failures', 'unknown'])
      .meta({ description: 'failures: events that were received and not processed.' }),
    webhook: z.enum(['ok', 'refuses', 'unknown']).meta({
      description: 'refuses: many deliveries had no valid signature, and none was accepted since.',
    }),
    disk: z.enum(['ok', 'low', 'full', 'unknown']).meta({
      description: 'full: writes find no room; low: little is left on the disk of the embedded database.',
    }),
  }),
  alerts: z.array(alert).optional().meta({ description: 'Only for whoever sends CRON_SECRET.' }),
});
export type Health = z.infer<typeof health>;

interface Asked {
  db: Database;
  env: Env;
  log: Logger;
  now(): Date;
}

/** How the service is. Never throws: a database that fails or takes longer than `timeout` ms is down. */
export async function checkHealth(asked: Asked, timeout = 3000): Promise<Health> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Health>((resolve) => {
    timer = setTimeout(() => resolve(down()), timeout);
  });
  try {
    return await Promise.race([ask(asked), late]);
  } catch (error) {
    asked.log.error({ code: pgErrorCode(error) }, 'health check failed');
    return down();
  } finally {
    clearTimeout(timer);
  }
}

/** The health of a service that can do nothing, most often because its database cannot be had. */
export function down(database: Health['database'] = 'unreachable'): Health {
  return {
    status: 'down',
    version: manifest.version,
    database,
    checks: { reconciliation: 'unknown', inbox: 'unknown', webhook: 'unknown', disk: 'unknown' },
  };
}

async function ask({ db, env, now }: Asked): Promise<Health> {
  const { alerts, everRun } = await listAlerts(db, now(), env);
  const codes = new Set(alerts.map(({ code }) => code));
  return {
    status: alerts.some(({ code }) => !OF_SETTINGS.includes(code)) ? 'degraded' : 'ok',
    version: manifest.version,
    database: 'ok',
    checks: {
      reconciliation: everRun ? reconciliationOf(codes) : 'none',
      inbox: OF_INBOX.some((code) => codes.has(code)) ? 'failures' : 'ok',
      webhook: codes.has('webhook_refuses') ? 'refuses' : 'ok',
      disk: codes.has('disk_full') ? 'full' : codes.has('disk_low') ? 'low' : 'ok',
    },
    alerts,
  };
}

/** What settings would change is for staff, and no reason to wake anybody up. */
const OF_SETTINGS: Alert['code'][] = ['time_zone_differs', 'registrations_refused'];

const OF_INBOX = ['inbox_failures', 'inbox_other_mode', 'inbox_thin'] as const;

function reconciliationOf(codes: Set<Alert['code']>): Health['checks']['reconciliation'] {
  if (codes.has('reconciliation_overdue')) return 'overdue';
  if (codes.has('reconciliation_silent')) return 'silent';
  if (codes.has('reconciliation_failed')) return 'failed';
  return codes.has('reconciliation_drift') ? 'drift' : 'ok';
}
