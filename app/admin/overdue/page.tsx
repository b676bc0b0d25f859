import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { getRuntime } from '@/lib/runtime';
import { listStaffTasks } from '@/lib/tasks/staff-tasks';
import { type SearchParams, toParams } from '../../_components/search-params';
import { ListPage } from '../_components/lists/list-page';
import { TaskNotice } from '../_components/records/record-tasks';
import { OVERDUE } from './list';
import { OverdueSums } from './overdue-sums';

export const metadata: Metadata = { title: 'Overdue invoices' };

export default async function OverduePage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const { db } = await getRuntime();
  // Stripe still calls these invoices paid.
  const takenBack = await listStaffTasks(db, { kind: 'money_came_back' });
  return (
    <ListPage list={OVERDUE} search={toParams(await searchParams)}>
      <TaskNotice tasks={takenBack} />
      <OverdueSums />
    </ListPage>
  );
}
