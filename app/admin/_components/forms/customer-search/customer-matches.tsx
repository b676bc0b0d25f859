import { Group, Stack, Text } from '@mantine/core';
import type { CustomerMatches as Found } from '@/lib/customers/schema';
import { TextLink } from '../../../../_components/links';
import classes from '../../lists/list.module.css';

/** The customers found, each with a way to choose it. */
export function CustomerMatches({ found, path }: { found: Found; path: string }) {
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
