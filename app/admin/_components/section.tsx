import { Group, Paper, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './section.module.css';

interface Props {
  title: string;
  action?: ReactNode;
  children: ReactNode;
}

/** A titled part of a page. */
export function Section({ title, action, children }: Props) {
  return (
    <section className={classes.section}>
      <Group justify="space-between" mb="xs">
        <Title order={2}>{title}</Title>
        {action}
      </Group>
      <Paper withBorder radius="lg" className={classes.body ?? ''}>
        {children}
      </Paper>
    </section>
  );
}
