import { EmptyState } from '@mantine/core';
import { IconInbox } from '@tabler/icons-react';
import type { ReactNode } from 'react';

/** What stands where a list would, had it rows. */
export function Nothing({ title, text, action }: { title: string; text: ReactNode; action?: ReactNode }) {
  return (
    <EmptyState
      py={48}
      px="md"
      size="sm"
      icon={<IconInbox stroke={1.4} aria-hidden />}
      withIndicatorBackground
      title={title}
      description={text}
    >
      {action}
    </EmptyState>
  );
}
