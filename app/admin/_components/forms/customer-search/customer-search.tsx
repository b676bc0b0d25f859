import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import Form from 'next/form';
import { formatMessage } from '@/app/_components/format';
import { TextLink } from '@/app/_components/links';
import { findCustomers } from '@/lib/customers/find-customers';
import { customerQuery, type CustomerMatches as Found } from '@/lib/customers/schema';
import { getRuntime } from '@/lib/runtime';
import classes from '../../lists/list.module.css';

interface CustomerSearchProps {
  /** Path of the page that shows the search. Each match links to it, with the customer's id as the parameter `to`. */
  path: string;
  query: string | null;
}

/** Shows a customer search form, and the matches for `query`. If `query` is null, shows only the form. */
export async function CustomerSearch({ path, query }: CustomerSearchProps) {
  const { db } = await getRuntime();
  const parsed = query === null ? null : customerQuery.safeParse(query);
  const found = parsed?.success ? await findCustomers(db, parsed.data) : null;
  const problem = parsed?.error?.issues[0]?.message;
  return (
    <>
      <Form prefetch={false} action={path} scroll={false}>
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

/** Lists the matching customers, each with a link that selects the customer. */
function CustomerMatches({ found, path }: { found: Found; path: string }) {
  if (found.count === 0) {
    return (
      <Text size="sm" c="dimmed" p="md" className={classes.entry ?? ''}>
        No customer number, name, company or e-mail address contains this.
      </Text>
    );
  }
  return (
    <>
      {found.matches.map((customer) => (
        <Group
          key={customer.id}
          className={classes.entry ?? ''}
          display="flex"
          justify="space-between"
          wrap="nowrap"
          gap="sm"
        >
          <Stack gap={0} miw={0}>
            <Text size="sm" fw={500} truncate>
              {customer.name || customer.customer_number}
            </Text>
            <Text size="xs" c="dimmed" truncate>
              {[customer.customer_number, customer.email].filter(Boolean).join(' · ')}
            </Text>
          </Stack>
          <TextLink
            href={`${path}?to=${customer.id}#confirm`}
            flex="none"
            aria-label={`Choose ${customer.customer_number}`}
          >
            Choose
          </TextLink>
        </Group>
      ))}
      {found.truncated && (
        <Text size="xs" c="dimmed" p="md">
          There are more matches: type more to narrow them down.
        </Text>
      )}
    </>
  );
}
