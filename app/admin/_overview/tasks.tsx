import { listTasks } from '@/lib/overview/list-tasks';
import { getRuntime } from '@/lib/runtime';
import { Section } from '../_components/section';
import { TaskList } from '../_components/task-list';

/** What needs a person; nothing while all is well. It stands on top, so that the page waits for it. */
export async function Tasks() {
  const { db, env, now } = await getRuntime();
  const tasks = await listTasks(db, now(), env.alerts);
  if (tasks.length === 0) return null;
  return (
    <Section title="Needs a person">
      <TaskList tasks={tasks} />
    </Section>
  );
}
