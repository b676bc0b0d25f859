import { TextLink } from '@/app/_components/links';
import { listStaffTasks, type StoredTask, TASK_KINDS } from '@/lib/tasks/staff-tasks';
import { Instant } from '../_components/display/values';
import { SubmitButton } from '../_components/forms/submit-button';
import { RecordList } from '../_components/lists/record-list';
import { Notice } from '../_components/page/notice';
import { Page } from '../_components/page/page-header';
import { Nothing, Section } from '../_components/page/section';
import { staffPage } from '../_components/page/staff-page';
import { finish } from './actions';

export const metadata = { title: 'Tasks' };

/** Shows open tasks, and the tasks that were finished last. */
export default staffPage(async ({ runtime: { db, env }, search }) => {
  const [open, done] = [await listStaffTasks(db), await listStaffTasks(db, { done: true })];
  return (
    <Page
      title="Tasks"
      description="What Stripe and programs reported and a person has to decide, the latest first."
      notice={
        search.get('notice') === 'done' && (
          <Notice key={done[0]?.id} tone="done">
            The task is done.
          </Notice>
        )
      }
    >
      {open.length === 0 ? (
        <Nothing title="No open tasks" text="They appear here as soon as there is one." />
      ) : (
        <Section title="Open">
          <StaffTaskList label="Open tasks" tasks={open} timeZone={env.timeZone} />
        </Section>
      )}
      {done.length > 0 && (
        <Section title="Done">
          <StaffTaskList label="Done tasks" tasks={done} timeZone={env.timeZone} />
        </Section>
      )}
    </Page>
  );
});

interface Props {
  label: string;
  tasks: StoredTask[];
  timeZone: string;
}

/** Lists tasks, each with its record. An open task has a button; a finished one names the person who finished it. */
function StaffTaskList({ label, tasks, timeZone }: Props) {
  const stateOf = (task: StoredTask) =>
    task.done_at ? (
      <>
        {task.done_by}, <Instant at={task.done_at} timeZone={timeZone} />
      </>
    ) : (
      <form action={finish.bind(null, task.id)}>
        <SubmitButton size="xs" variant="default" aria-label={`Done: ${titleOf(task)}, task ${task.id}`}>
          Done
        </SubmitButton>
      </form>
    );
  return (
    <RecordList
      label={label}
      rows={tasks}
      columns={[
        {
          label: 'Since',
          width: '16%',
          cell: (task) => <Instant at={task.created_at} timeZone={timeZone} />,
        },
        { label: 'What', wraps: true, cell: whatOf },
        { label: 'Done', width: '18%', wraps: true, cell: stateOf },
      ]}
      entryOf={(task) => ({
        title: titleOf(task),
        detail: whatOf(task),
        state: stateOf(task),
      })}
    />
  );
}

const titleOf = ({ kind }: StoredTask) => TASK_KINDS[kind];

const PATHS = { invoice: '/admin/invoices', payment: '/admin/payments' };

const whatOf = ({ message, entity, entity_id }: StoredTask) => (
  <>
    {message}{' '}
    {entity && entity_id !== null && (
      <TextLink href={`${PATHS[entity]}/${entity_id}`}>Open the {entity}</TextLink>
    )}
  </>
);
