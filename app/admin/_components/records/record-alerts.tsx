import { Alert, List, ListItem, Text } from '@mantine/core';
import { TextLink } from '@/app/_components/links';
import { getCustomer } from '@/lib/customers/queries';
import { taxContradiction, taxRuleOf } from '@/lib/customers/tax';
import { type CategorizedLine, categorize } from '@/lib/customers/tax-category';
import { getCompany } from '@/lib/documents/company';
import type { DocumentState } from '@/lib/documents/invoice-document';
import { getRuntime } from '@/lib/runtime';
import { listTasksOf, type StoredTask } from '@/lib/tasks/staff-tasks';
import { EmptyText } from '../page/staff-page';

interface RecordTasksProps {
  entity: Parameters<typeof listTasksOf>[1];
  id: number;
}

/**
 * Shows a notice of the open staff tasks about an invoice or a payment, or about all invoices and payments of a
 * customer. Shows nothing without open tasks.
 */
export async function RecordTasks({ entity, id }: RecordTasksProps) {
  const { db } = await getRuntime();
  return <TaskNotice tasks={await listTasksOf(db, entity, id)} />;
}

/** Shows a notice of open staff tasks, with a link to the tasks page. Shows nothing without tasks. */
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
  /** Lines of a draft. Do not show the notice for an issued document, because its tax can no longer change. */
  lines: CategorizedLine[];
}

/** Explains why a draft's customer pays no tax, or warns if the lines contradict the customer's tax or tax rules. */
export async function TaxNotice({ customerId, lines }: TaxNoticeProps) {
  const { db, env } = await getRuntime();
  const customer = await getCustomer(db, { id: customerId });
  if (!customer || lines.length === 0) return null;
  const rule = taxRuleOf(customer, env.tax);
  const contradiction = taxContradiction(
    rule,
    lines.map(({ tax_rate }) => Number(tax_rate)),
  );
  const { problems } = categorize(lines, customer, await getCompany(db));
  const warnings = [...(contradiction ? [contradiction] : []), ...problems.map((problem) => `${problem}.`)];
  if (warnings.length === 0 && rule.reason === null) return null;
  const kind =
    warnings.length > 0 ? { color: 'orange', title: 'Check the tax' } : { color: 'blue', title: '0 % tax' };
  return (
    <Alert {...kind} variant="light" mb="lg">
      {warnings.join(' ') || rule.reason}
    </Alert>
  );
}

interface WhyNoDocumentProps {
  /** First sentence if fields are missing, such as “There is no PDF yet.” */
  yet: string;
  state: DocumentState;
  customerId: number;
  /** Whether the person may change the company's settings. */
  isAdmin: boolean;
}

/** Explains why a record has no document, and links to the pages where the missing fields can be filled in. */
export function WhyNoDocument({ yet, state: { reasons, missing }, customerId, isAdmin }: WhyNoDocumentProps) {
  if (missing.length === 0) return <EmptyText>{reasons.join(' ')}</EmptyText>;
  const emptyOf = (owner: string) =>
    missing.flatMap((field) => (field.owner === owner ? field.label : [])).join(', ');
  const [company, customer] = [emptyOf('company'), emptyOf('customer')];
  return (
    <>
      <EmptyText>{[yet, ...reasons].join(' ')} It needs these fields:</EmptyText>
      <List px="md" pb="md" size="sm" spacing="xs">
        {company && (
          <ListItem>
            Company: {company}.{' '}
            {isAdmin ? (
              <TextLink href="/admin/settings/company">Fill in the company</TextLink>
            ) : (
              <Text span size="sm">
                Ask an admin to fill them in.
              </Text>
            )}
          </ListItem>
        )}
        {customer && (
          <ListItem>
            Customer: {customer}.{' '}
            <TextLink href={`/admin/customers/${customerId}/edit`}>Fill in the customer</TextLink>
          </ListItem>
        )}
      </List>
    </>
  );
}
