import { waitUntil } from '@vercel/functions';
import type { Env } from '../../env';
import type { Logger } from '../../log';

/** The part of Vercel's 300 s that remains after a page that has begun is done. */
const BUDGET_MS = 240_000;
/** Long enough for the request to arrive. The run goes on without its caller. */
const HANDOVER_MS = 10_000;

export function runDeadline({ env, now }: { env: Pick<Env, 'vercel'>; now(): Date }): { deadline?: Date } {
  return env.vercel ? { deadline: new Date(now().getTime() + BUDGET_MS) } : {};
}

/** If the request does not get through, the next run resumes this one. */
export function continueRun({ env, log }: { env: Pick<Env, 'publicUrl' | 'cronSecret'>; log: Logger }): void {
  const asked = fetch(`${env.publicUrl}/api/cron/reconcile`, {
    headers: { Authorization: `Bearer ${env.cronSecret}` },
    signal: AbortSignal.timeout(HANDOVER_MS),
  });
  waitUntil(
    asked.then(
      ({ status, ok }) => ok || log.error({ status }, 'reconciliation was refused its continuation'),
      (error: unknown) => {
        const isUnderWay = error instanceof Error && error.name === 'TimeoutError';
        if (!isUnderWay) log.error('reconciliation could not go on: the next run takes it up');
      },
    ),
  );
}
