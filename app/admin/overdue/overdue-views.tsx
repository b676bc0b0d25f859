import { getRuntime } from '@/lib/runtime';
import { listStaffTasks } from '@/lib/tasks/staff-tasks';
import { Choice } from '../_components/lists/paged-list';
import { TaskNotice } from '../_components/records/record-alerts';

/** Links the two views of what customers owe, by customer and the overdue invoices, and shows the tasks about both. */
export async function OverdueViews({ current }: { current: 'customers' | 'invoices' }) {
  const { db } = await getRuntime();
  // Tasks about Stripe invoices whose payment was lost in a dispute. Stripe still reports these invoices as
  // paid, so neither view contains them.
  const takenBack = await listStaffTasks(db, { kind: 'money_came_back' });
  return (
    <>
      <TaskNotice tasks={takenBack} />
      <Choice
        label="View"
        mb="md"
        current={current}
        options={[
          { value: 'customers', text: 'By customer', href: '/admin/overdue' },
          { value: 'invoices', text: 'Overdue invoices', href: '/admin/overdue/invoices' },
        ]}
      />
    </>
  );
}
