import type { RunRow } from '@/lib/sync/run-queries';

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

const PHASES: Record<RunRow['phase'], string> = {
  inbox: 'Failed events',
  subscriptions: 'Subscriptions',
  invoices: 'Invoices',
  rechecks: 'Marked records',
  payments: 'Missing payments',
  overdue: 'Due dates',
  done: 'Done',
};

/** What a run is doing, or did last. */
export function phaseText(phase: RunRow['phase']): string {
  return PHASES[phase];
}
