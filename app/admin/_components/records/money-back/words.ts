import { formatField } from '@/app/_components/format';
import type { MoneyBackRow } from '@/lib/payments/money-back';

export const MONEY_BACK_KINDS: Record<MoneyBackRow['kind'], string> = {
  refund: 'Refund',
  dispute: 'Dispute',
};

const DISPUTES: Record<Extract<MoneyBackRow, { kind: 'dispute' }>['status'], string> = {
  warning_needs_response: 'Inquiry: answer needed',
  warning_under_review: 'Inquiry: under review',
  warning_closed: 'Inquiry closed',
  needs_response: 'Answer needed',
  under_review: 'Under review',
  won: 'Won',
  lost: 'Lost',
  prevented: 'Prevented',
};

const SOURCES = { stripe: 'Stripe', staff: 'Staff', api: 'Payments API' };

/** Returns the text of a dispute's status. An unknown status is formatted like any other field value. */
export function disputeText(status: string): string {
  return DISPUTES[status as keyof typeof DISPUTES] ?? formatField(status);
}

export function moneyBackStatus({ kind, status }: MoneyBackRow): string {
  return kind === 'dispute' ? disputeText(status) : formatField(status);
}

/** Returns the name of the source of a refund or dispute. */
export function moneyBackSource(row: MoneyBackRow): string {
  return SOURCES[row.kind === 'refund' ? row.source : 'stripe'];
}
