import { EmptyState, Group, Paper, Text, Title } from '@mantine/core';
import { IconChevronRight, IconInbox } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import classes from './section.module.css';

interface Props {
  title: string;
  action?: ReactNode;
  /** Only its title is shown, until it is unfolded. */
  folds?: boolean;
  children: ReactNode;
}

/** A titled part of a page. */
export function Section({ title, action, folds = false, children }: Props) {
  const body = (
    <Paper withBorder radius="lg" className={classes.body ?? ''}>
      {children}
    </Paper>
  );
  if (folds) {
    return (
      <section className={classes.section}>
        <details className={classes.folded}>
          <summary className={classes.summary}>
            <IconChevronRight size={16} stroke={1.8} aria-hidden />
            <Title order={2}>{title}</Title>
          </summary>
          {body}
        </details>
        <div className={classes.action}>{action}</div>
      </section>
    );
  }
  return (
    <section className={classes.section}>
      <Group justify="space-between" mb="xs">
        <Title order={2}>{title}</Title>
        {action}
      </Group>
      {body}
    </section>
  );
}

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

/** What stands in a section that has nothing to show. */
export function EmptyText({ children }: { children: ReactNode }) {
  return (
    <Text size="sm" c="dimmed" p="md">
      {children}
    </Text>
  );
}
