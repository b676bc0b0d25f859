import { Alert, Text } from '@mantine/core';
import { getRuntime } from '@/lib/runtime';
import { listTasksOf, type StoredTask } from '@/lib/tasks/staff-tasks';
import { TextLink } from '../../../_components/links';

interface RecordTasksProps {
  entity: Parameters<typeof listTasksOf>[1];
  id: number;
}

/** The open tasks of a record. */
export async function RecordTasks({ entity, id }: RecordTasksProps) {
  const { db } = await getRuntime();
  return <TaskNotice tasks={await listTasksOf(db, entity, id)} />;
}

/** A notice of open tasks, for the pages of the records that the tasks concern. */
export function TaskNotice({ tasks }: { tasks: StoredTask[] }) {
  if (tasks.length === 0) return null;
  return (
    <Alert color="orange" variant="light" mb="lg" title="To be decided">
      {tasks.map((task) => (
        <Text key={task.id} size="sm">
          {task.message}
        </Text>
      ))}
      <TextLink href="/admin/tasks" c="inherit" td="underline">
        Open the tasks
      </TextLink>
    </Alert>
  );
}
