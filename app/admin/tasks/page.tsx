import { countOpenTasks, listStaffTasks, type StoredTask, TASK_KINDS } from '@/lib/tasks/staff-tasks';
import { formatCount } from '../../_components/format';
import { TextLink } from '../../_components/links';
import { Instant } from '../_components/display/values';
import { OutcomeNotice } from '../_components/forms/record/record-notice';
import { SubmitButton } from '../_components/forms/submit-button';
import { RecordList } from '../_components/lists/record-list';
import { EmptyText, Nothing, Page, Section, staffPage } from '../_components/page/staff-page';
import { finish } from './actions';

export const metadata = { title: 'Tasks' };

/** Shows the newest 100 open staff tasks, and the 100 most recently finished ones. */
export default staffPage(async ({ db, timeZone, notice }) => {
  const [open, done] = [await listStaffTasks(db), await listStaffTasks(db, { done: true })];
  const rest = (await countOpenTasks(db)) - open.length;
  return (
    <Page
      title="Tasks"
      description="Reports from Stripe and from programs that need a person’s decision, latest first."
      notice={<OutcomeNotice key={done[0]?.id} notice={notice} done={{ done: 'The task is done.' }} />}
    >
      {open.length === 0 ? (
        <Nothing title="No open tasks" text="They appear here as soon as there is one." />
      ) : (
        <Section title="Open">
          <StaffTaskList label="Open tasks" tasks={open} timeZone={timeZone} />
          {rest > 0 && (
            <EmptyText>{`${formatCount(rest, 'older task')} will appear once these are done.`}</EmptyText>
          )}
        </Section>
      )}
      {done.length > 0 && (
        <Section title="Done">
          <StaffTaskList label="Done tasks" tasks={done} timeZone={timeZone} />
        </Section>
      )}
    </Page>
  );
});

/** Lists tasks with links to their records. An open task has a button. A finished task shows who finished it. */
function StaffTaskList({ label, tasks, timeZone }: { label: string; tasks: StoredTask[]; timeZone: string }) {
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

const hrefOf = (entity: NonNullable<StoredTask['entity']>, id: number) =>
  entity === 'payout' ? '/admin/reconciliation#payouts' : `/admin/${entity}s/${id}`;

const whatOf = ({ message, entity, entity_id }: StoredTask) => (
  <>
    {message}{' '}
    {entity && entity_id !== null && <TextLink href={hrefOf(entity, entity_id)}>Open the {entity}</TextLink>}
  </>
);
