import { Stack } from '@mantine/core';
import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { getRuntime } from '@/lib/runtime';
import { listStaffTasks } from '@/lib/tasks/staff-tasks';
import { type SearchParams, toParams } from '../../_components/search-params';
import { Nothing } from '../_components/page/nothing';
import { Notice } from '../_components/page/notice';
import { PageHeader } from '../_components/page/page-header';
import { Section } from '../_components/page/section';
import { StaffTaskList } from './staff-task-list';

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
