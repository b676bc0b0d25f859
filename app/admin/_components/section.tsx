import { Group, Paper, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface Props {
  title: string;
  action?: ReactNode;
  children: ReactNode;
}

/** A titled part of a page. */
export function Section({ title, action, children }: Props) {
  return (
    <section>
      <Group justify="space-between" mb="xs">
        <Title order={2}>{title}</Title>
        {action}
      </Group>
      <Paper withBorder radius="lg" style={{ overflow: 'hidden' }}>
        {children}
      </Paper>
    </section>
  );
}
