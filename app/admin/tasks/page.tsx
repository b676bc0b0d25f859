import { Stack } from '@mantine/core';
import type { Metadata } from 'next';
import { TextLink } from '@/app/_components/links';
import { type SearchParams, toParams } from '@/app/_components/search-params';
import { requireStaff } from '@/lib/auth/staff-session';
import { getRuntime } from '@/lib/runtime';
import { listStaffTasks, type StoredTask, TASK_KINDS } from '@/lib/tasks/staff-tasks';

import { Instant } from '../_components/display/values';
import { SubmitButton } from '../_components/forms/form';
import { RecordList } from '../_components/lists/record-list';
import { Notice } from '../_components/page/notice';
import { PageHeader } from '../_components/page/page-header';
import { Nothing, Section } from '../_components/page/section';
import { finish } from './actions';

export const metadata: Metadata = { title: 'Tasks' };

/** What a person has to decide, and what was decided last. */
export default async function TasksPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const { db, env } = await getRuntime();
  const search = toParams(await searchParams);
  const [open, done] = [await listStaffTasks(db), await listStaffTasks(db, { done: true })];
  return (
    <>
      <PageHeader
        title="Tasks"
        description="What Stripe and programs reported and a person has to decide, the latest first."
      />
      {search.get('notice') === 'done' && (
        <Notice key={done[0]?.id} tone="done">
          The task is done.
        </Notice>
      )}
      <Stack gap="xl">
        {open.length === 0 && (
          <Nothing title="No open tasks" text="They appear here as soon as there is one." />
        )}
        {open.length > 0 && (
          <Section title="Open">
            <StaffTaskList label="Open tasks" tasks={open} timeZone={env.timeZone} />
          </Section>
        )}
        {done.length > 0 && (
          <Section title="Done">
            <StaffTaskList label="Done tasks" tasks={done} timeZone={env.timeZone} />
          </Section>
        )}
      </Stack>
    </>
  );
}

interface Props {
  label: string;
  tasks: StoredTask[];
  timeZone: string;
}

/** Tasks, each with the record that it is about, and a button or who has done it. */
function StaffTaskList({ label, tasks, timeZone }: Props) {
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
