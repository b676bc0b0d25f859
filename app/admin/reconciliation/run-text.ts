import { deadBefore, type RunRow } from '@/lib/sync/reconcile/run';

const TRIGGERS: Record<RunRow['trigger'], string> = {
  cron: 'Daily job',
  schedule: 'Daily job',
  staff: 'Staff',
  cli: 'Command',
};

/** Returns the name of the person or trigger that started a run. */
export function triggerText({ trigger, started_by }: Pick<RunRow, 'trigger' | 'started_by'>): string {
  return (trigger === 'staff' && started_by) || TRIGGERS[trigger];
}

/** Names of the phases of a run, in execution order. */
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

/** Returns the number of finished phases of a run, and the number of all phases. */
export function progressOf(phase: RunRow['phase']): { done: number; phases: number } {
  const phases = Object.keys(PHASES);
  return { done: phases.indexOf(phase), phases: phases.length - 1 };
}

/** Returns true if a run is marked as running, but its lease has expired without a heartbeat. */
export function isSilent({ status, heartbeat_at }: RunRow, now: Date): boolean {
  return status === 'running' && heartbeat_at < deadBefore(now);
}
