import { Group, Text } from '@mantine/core';

/** Shows the product's logo and name. */
export function Brand() {
  return (
    <Group gap={10} wrap="nowrap">
      <svg width="24" height="24" viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" rx="8" fill="#5750dc" />
        <path d="M8 10h16M8 16h16M8 22h9" stroke="#fff" strokeWidth="3" strokeLinecap="round" />
      </svg>
      <Text fw={600} size="sm" component="span">
        W5T Administration
      </Text>
    </Group>
  );
}
