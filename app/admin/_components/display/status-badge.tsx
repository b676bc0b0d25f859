import { Badge } from '@mantine/core';
import { formatField } from '../../../_components/format';

interface Props {
  status: string;
  /** Where its name does not say it. */
  children?: string;
}

const COLORS: Record<string, string> = {
  completed: 'green',
  paid: 'green',
  active: 'green',
  processed: 'green',
  fixed: 'green',
  valid: 'green',
  succeeded: 'green',
  won: 'green',
  pending: 'blue',
  running: 'blue',
  sent: 'blue',
  trialing: 'blue',
  under_review: 'blue',
  warning_under_review: 'blue',
  refunded: 'gray',
  overdue: 'orange',
  expired: 'orange',
  past_due: 'orange',
  incomplete: 'orange',
  completed_with_errors: 'orange',
  reported: 'orange',
  interrupted: 'orange',
  unmatched: 'orange',
  disputed: 'orange',
  needs_response: 'orange',
  warning_needs_response: 'orange',
  failed: 'red',
  unpaid: 'red',
  blocked: 'red',
  lost: 'red',
};

/** The colour of a state, also where it is no badge. */
export const statusColor = (status: string): string => COLORS[status] ?? 'gray';

/** A state of any of our enums, calm for the usual ones. */
export function StatusBadge({ status, children = formatField(status) }: Props) {
  return (
    <Badge variant="light" radius="sm" size="md" tt="none" fw={500} color={statusColor(status)}>
      {children}
    </Badge>
  );
}
