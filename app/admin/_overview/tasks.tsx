import { Group, Text } from '@mantine/core';
import { IconCircleCheck } from '@tabler/icons-react';
import { listTasks } from '@/lib/overview/list-tasks';
import { getRuntime } from '@/lib/runtime';
import { Section } from '../_components/section';
import { TaskList } from '../_components/task-list';

/** What needs a person. It stands on top, so that the page waits for it. */
export async function Tasks() {
  const { db, env, now } = await getRuntime();
  const tasks = await listTasks(db, now(), env);
  if (tasks.length === 0) return <AllWell />;
  return (
    <Section title="Needs a person">
      <TaskList tasks={tasks} />
    </Section>
  );
}

function AllWell() {
  return (
    <Group gap={8} c="var(--mantine-color-green-light-color)">
      <IconCircleCheck size={18} stroke={1.8} aria-hidden />
      <Text size="sm" fw={500}>
        The sync is in order, and nothing needs a person.
      </Text>
    </Group>
  );
}
