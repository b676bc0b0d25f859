import { Badge } from '@mantine/core';

const COLORS: Record<string, string> = {
  completed: 'green',
  paid: 'green',
  active: 'green',
  processed: 'green',
  fixed: 'green',
  valid: 'green',
  pending: 'blue',
  running: 'blue',
  sent: 'blue',
  trialing: 'blue',
  refunded: 'gray',
  overdue: 'orange',
  expired: 'orange',
  past_due: 'orange',
  incomplete: 'orange',
  completed_with_errors: 'orange',
  reported: 'orange',
  unmatched: 'orange',
  failed: 'red',
  unpaid: 'red',
  blocked: 'red',
};

/** A state of any of our enums, calm for the usual ones. */
export function StatusBadge({ status }: { status: string }) {
  return (
    <Badge variant="light" radius="sm" size="md" tt="none" fw={500} color={COLORS[status] ?? 'gray'}>
      {status.charAt(0).toUpperCase() + status.slice(1).replaceAll('_', ' ')}
    </Badge>
  );
}
