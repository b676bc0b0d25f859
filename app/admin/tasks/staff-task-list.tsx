import { type StoredTask, TASK_KINDS } from '@/lib/tasks/staff-tasks';
import { TextLink } from '../../_components/links';
import { Instant } from '../_components/display/instant';
import { SubmitButton } from '../_components/forms/submit-button';
import { RecordList } from '../_components/lists/record-list';
import { finish } from './actions';

interface Props {
  label: string;
  tasks: StoredTask[];
  timeZone: string;
}

/** Tasks, each with the record that it is about, and a button or who has done it. */
export function StaffTaskList({ label, tasks, timeZone }: Props) {
  return (
    <RecordList
      label={label}
      rows={tasks}
      keyOf={({ id }) => id}
      columns={[
        {
          label: 'Since',
          width: '16%',
          cell: ({ created_at }) => <Instant at={created_at} timeZone={timeZone} />,
        },
        { label: 'What', wraps: true, cell: (task) => <What task={task} /> },
        {
          label: 'Done',
          width: '18%',
          wraps: true,
          cell: (task) => <Done task={task} timeZone={timeZone} />,
        },
      ]}
      entryOf={(task) => ({
        title: titleOf(task),
        detail: <What task={task} />,
        state: <Done task={task} timeZone={timeZone} />,
      })}
    />
  );
}

const titleOf = ({ kind }: StoredTask) => TASK_KINDS[kind];

const PATHS = { invoice: '/admin/invoices', payment: '/admin/payments' };

function What({ task: { message, entity, entity_id } }: { task: StoredTask }) {
  return (
    <>
      {message}{' '}
      {entity && entity_id !== null && (
        <TextLink href={`${PATHS[entity]}/${entity_id}`}>Open the {entity}</TextLink>
      )}
    </>
  );
}

function Done({ task, timeZone }: { task: StoredTask; timeZone: string }) {
  if (task.done_at) {
    return (
      <>
        {task.done_by}, <Instant at={task.done_at} timeZone={timeZone} />
      </>
    );
  }
  return (
    <form action={finish.bind(null, task.id)}>
      <SubmitButton size="xs" variant="default" aria-label={`Done: ${titleOf(task)}, task ${task.id}`}>
        Done
      </SubmitButton>
    </form>
  );
}
