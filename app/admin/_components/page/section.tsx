import { EmptyState, Group, Paper, Text, Title } from '@mantine/core';
import { IconChevronRight, IconInbox } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Facts } from '../display/values';
import classes from './section.module.css';

interface Props {
  title: string;
  action?: ReactNode;
  /** Whether the section can be folded. It is folded at first, and shows only its title. */
  folds?: boolean;
  facts?: Record<string, ReactNode>;
  /** The text in place of the contents if there are none. */
  none?: string | false;
  children?: ReactNode;
}

/** Shows a section of a page with a title. */
export function Section({ title, action, folds = false, facts, none, children }: Props) {
  const body = (
    <Paper withBorder radius="lg" className={classes.body ?? ''}>
      {none ? <EmptyText>{none}</EmptyText> : facts ? <Facts facts={facts} /> : children}
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

/** Shows the empty state of a list. */
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

/** Shows the text of an empty section. */
export function EmptyText({ children }: { children: ReactNode }) {
  return (
    <Text size="sm" c="dimmed" p="md">
      {children}
    </Text>
  );
}
