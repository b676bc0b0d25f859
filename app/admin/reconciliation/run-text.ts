import { deadBefore, type RunRow } from '@/lib/sync/reconcile/run';

const TRIGGERS: Record<RunRow['trigger'], string> = {
  cron: 'Daily job',
  schedule: 'Daily job',
  staff: 'Staff',
  cli: 'Command',
};

/** Who or what started a run. */
export function triggerText({ trigger, started_by }: Pick<RunRow, 'trigger' | 'started_by'>): string {
  return (trigger === 'staff' && started_by) || TRIGGERS[trigger];
}

/** What a run is doing in each phase, or did last. */
export const PHASES: Record<RunRow['phase'], string> = {
  inbox: 'Failed events',
  subscriptions: 'Subscriptions',
  invoices: 'Invoices',
  rechecks: 'Marked records',
  payments: 'Missing payments and checkouts',
  money_back: 'Refunds and disputes',
  overdue: 'Due dates',
  done: 'Done',
};

/** How many phases a run has behind it, and how many there are. */
export function progressOf(phase: RunRow['phase']): { done: number; phases: number } {
  const phases = Object.keys(PHASES);
  return { done: phases.indexOf(phase), phases: phases.length - 1 };
}

/** True of a run under way whose process ended. */
export function isSilent({ status, heartbeat_at }: RunRow, now: Date): boolean {
  return status === 'running' && heartbeat_at < deadBefore(now);
}
