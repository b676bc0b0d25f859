import { Button, Group, TextInput } from '@mantine/core';
import Form from 'next/form';
import { formatMessage } from '@/app/_components/format';
import { findCustomers } from '@/lib/customers/find-customers';
import { customerQuery } from '@/lib/customers/schema';
import { getRuntime } from '@/lib/runtime';
import { CustomerMatches } from './customer-matches';

interface Props {
  /** The address of its page, which gets the customer's id as `to`. */
  path: string;
  query: string | null;
}

/** Looks for a customer to choose. */
export async function CustomerSearch({ path, query }: Props) {
  const { db } = await getRuntime();
  const parsed = query === null ? null : customerQuery.safeParse(query);
  const found = parsed?.success ? await findCustomers(db, parsed.data) : null;
  const problem = parsed?.error?.issues[0]?.message;
  return (
    <>
      <Form action={path} scroll={false}>
        <Group p="md" gap="xs" align="flex-end">
          <TextInput
            label="Customer"
            name="q"
            placeholder="Number, name, company, e-mail"
            size="sm"
            flex={1}
            maw={420}
            required
            withAsterisk={false}
            defaultValue={query ?? ''}
            error={problem && formatMessage(problem)}
          />
          <Button type="submit" size="sm" variant="default">
            Search
          </Button>
        </Group>
      </Form>
      {found && <CustomerMatches found={found} path={path} />}
    </>
  );
}
