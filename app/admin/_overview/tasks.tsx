import { Group, Text } from '@mantine/core';
import { IconCircleCheck } from '@tabler/icons-react';
import { type Attention, getAttention, listTasks } from '@/lib/overview/list-tasks';
import { getRuntime } from '@/lib/runtime';
import { formatCount, formatDate, formatMoney } from '../../_components/format';
import { type LinkedTask, TaskList, toLinkedTask } from '../_components/lists/task-list';
import { Section } from '../_components/page/section';

/** What needs attention. It stands on top, so that the page waits for it. */
export async function Tasks() {
  const { db, env, now } = await getRuntime();
  const attention = await getAttention(db);
  const tasks = (await listTasks(db, now(), env)).map(toLinkedTask);
  const all = [...overdueTask(attention), ...pastDueTask(attention), ...tasks];
  if (all.length === 0) return <AllWell />;
  return (
    <Section title="Needs attention">
      <TaskList tasks={all} />
    </Section>
  );
}

function overdueTask({ overdue, oldest }: Attention): LinkedTask[] {
  const count = overdue.reduce((sum, one) => sum + one.count, 0);
  if (count === 0 || oldest === null) return [];
  const sums = overdue.map(({ total, currency }) => formatMoney(total, currency)).join(', ');
  const text = `${formatCount(count, 'overdue invoice')}: ${sums}; the oldest was due on ${formatDate(oldest)}.`;
  return [{ text, href: '/admin/overdue' }];
}

function pastDueTask({ past_due }: Attention): LinkedTask[] {
  if (past_due === 0) return [];
  const text = `${formatCount(past_due, 'subscription is', 'subscriptions are')} past due.`;
  return [{ text, href: '/admin/subscriptions?status=past_due' }];
}

function AllWell() {
  return (
    <Group gap={8} c="var(--mantine-color-green-light-color)">
      <IconCircleCheck size={18} stroke={1.8} aria-hidden />
      <Text size="sm" fw={500}>
        Nothing needs attention.
      </Text>
    </Group>
  );
}
