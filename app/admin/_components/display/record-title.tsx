import { Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { StatusBadge } from './status-badge';

/** What a record is called, and its state. */
export function RecordTitle({ status, children }: { status: string; children: ReactNode }) {
  return (
    <Group gap="sm" component="span">
      {children}
      <StatusBadge status={status} />
    </Group>
  );
}
