import { Badge } from '@mantine/core';
import { formatField } from '@/app/_components/format';
import { statusColor } from './status-color';

interface Props {
  status: string;
  /** Where its name does not say it. */
  children?: string;
}

/** A state of any of our enums, calm for the usual ones. */
export function StatusBadge({ status, children = formatField(status) }: Props) {
  return (
    <Badge variant="light" radius="sm" size="md" tt="none" fw={500} color={statusColor(status)}>
      {children}
    </Badge>
  );
}
