import { Alert, Text } from '@mantine/core';
import { TextLink } from '@/app/_components/links';
import { getCustomer } from '@/lib/customers/queries';
import { taxContradiction, taxRuleOf } from '@/lib/customers/tax';
import { getRuntime } from '@/lib/runtime';
import { listTasksOf, type StoredTask } from '@/lib/tasks/staff-tasks';

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

interface TaxNoticeProps {
  customerId: number;
  /** Lines of a draft. Issued documents get no notice, because their tax can no longer change. */
  lines: { tax_rate: string }[];
}

/** A notice why the lines of a draft have no tax, or that their tax differs from the customer's usual tax. */
export async function TaxNotice({ customerId, lines }: TaxNoticeProps) {
  const { db, env } = await getRuntime();
  const customer = await getCustomer(db, { id: customerId });
  if (!customer || lines.length === 0) return null;
  const rule = taxRuleOf(customer, env.tax);
  const contradiction = taxContradiction(
    rule,
    lines.map(({ tax_rate }) => Number(tax_rate)),
  );
  if (!contradiction && rule.reason === null) return null;
  const kind = contradiction
    ? { color: 'orange', title: 'Check the tax' }
    : { color: 'blue', title: '0 % tax' };
  return (
    <Alert {...kind} variant="light" mb="lg">
      {contradiction ?? rule.reason}
    </Alert>
  );
}
