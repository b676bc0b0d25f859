import { Badge, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { formatField } from '@/app/_components/format';

interface Props {
  status: string;
  /** Text of the badge. Defaults to the name of the status. */
  children?: string;
}

/** A badge for a state of any of our enums, in a calm colour for usual states. */
export function StatusBadge({ status, children = formatField(status) }: Props) {
  return (
    <Badge variant="light" radius="sm" size="md" tt="none" fw={500} color={statusColor(status)}>
      {children}
    </Badge>
  );
}

/** The title of a record with its state. */
export function RecordTitle({ status, children }: { status: string; children: ReactNode }) {
  return (
    <Group gap="sm" component="span">
      {children}
      <StatusBadge status={status} />
    </Group>
  );
}

const STATES = {
  // Good.
  green: ['accepted', 'active', 'completed', 'fixed', 'ok', 'paid', 'processed', 'succeeded', 'valid', 'won'],
  // In progress.
  blue: ['order', 'pending', 'running', 'sent', 'trialing', 'under_review', 'warning_under_review'],
  // Needs a person's attention.
  orange: [
    'completed_with_errors',
    'disputed',
    'expired',
    'incomplete',
    'interrupted',
    'maintenance',
    'needs_response',
    'overdue',
    'past_due',
    'paused',
    'refused',
    'reported',
    'suspended',
    'unmatched',
    'validation_failed',
    'warning_needs_response',
  ],
  // Failed, or money is missing.
  red: ['blocked', 'error', 'failed', 'lost', 'offline', 'unpaid'],
  // Ended, or not started.
  gray: [
    'cancelled',
    'converted',
    'decommissioned',
    'deleted',
    'draft',
    'ignored',
    'inactive',
    'not_found',
    'prevented',
    'refunded',
    'rejected',
    'revoked',
    'stale',
    'terminated',
    'warning_closed',
  ],
};

/** The colour of each state of our enums. */
export const STATUS_COLORS: ReadonlyMap<string, string> = new Map(
  Object.entries(STATES).flatMap(([color, states]) => states.map((state) => [state, color] as const)),
);

/** Returns the colour of a state, for badges and charts. */
export const statusColor = (status: string): string => STATUS_COLORS.get(status) ?? 'gray';
