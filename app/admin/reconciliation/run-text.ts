import { formatCount, formatMoney, joinTexts } from '@/app/_components/format';
import type { ListedPayout } from '@/lib/sync/reconcile/payouts';
import { heardBetween, isDead, type RunRow } from '@/lib/sync/reconcile/run';

const TRIGGERS: Record<RunRow['trigger'], string> = {
  cron: 'Daily job',
  schedule: 'Daily job',
  staff: 'Staff',
  cli: 'Command',
};

/** Returns who or what started a run. */
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

/** Returns the number of finished phases of a run, and the number of all phases. `done` does not count as a phase. */
export function progressOf(phase: RunRow['phase']): { done: number; phases: number } {
  const phases = Object.keys(PHASES);
  return { done: phases.indexOf(phase), phases: phases.length - 1 };
}

type Heartbeat = Pick<RunRow, 'status' | 'heartbeat_at'>;

/** Returns true if a process is performing a run, so that no other process can start or resume one. */
export function isUnderWay(run: Heartbeat, now: Date): boolean {
  return run.status === 'running' && !isDead(run, now);
}

/** Returns true if a run is marked as running, but its process has ended and no other has taken over. */
export function isSilent({ status, heartbeat_at }: Heartbeat, now: Date): boolean {
  const [first, last] = heardBetween(now);
  return status === 'running' && (heartbeat_at < first || heartbeat_at > last);
}

/** Describes the contents of a payout: "2 payments €238.00 · fees €4.08 · net €233.92". */
export function payoutText({ sums, currency }: Pick<ListedPayout, 'sums' | 'currency'>): string {
  if (!sums) return 'Stripe does not list the payments in this payout.';
  const part = (count: number, noun: string, amount: string) =>
    count > 0 && `${formatCount(count, noun)} ${formatMoney(Number(amount), currency)}`;
  return joinTexts(
    part(sums.charge_count, 'payment', sums.charges),
    part(sums.refund_count, 'refund', sums.refunds),
    part(sums.other_count, 'other movement', sums.others),
    `fees ${formatMoney(Number(sums.fees), currency)}`,
    `net ${formatMoney(Number(sums.net), currency)}`,
  );
}

/** Texts for the differences found when a payout was compared with its transactions, our records and the bank. */
export const PAYOUT_DIFFERENCES: Record<string, string> = {
  failed: 'Failed at the bank',
  sum_differs: 'Not the sum of its transactions',
  payment_unknown: 'Payments not recorded here',
  refund_unknown: 'Refunds not recorded here',
  dispute_unknown: 'Disputes not recorded here',
  amount_differs: 'Amounts that differ from here',
  counted_twice: 'Payments recorded for two invoices',
  not_in_bank: 'Not in the bank statement',
};
