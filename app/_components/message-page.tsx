import { Center, Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface Props {
  title: string;
  text: ReactNode;
  children: ReactNode;
  /** Element around the message. Pass `div` if the layout already contains a `main` landmark. */
  component?: 'main' | 'div';
}

/** Shows a page that contains only a message, with buttons or links below it. */
export function MessagePage({ title, text, children, component = 'main' }: Props) {
  return (
    <Center component={component} mih="70vh" p="lg">
      <Stack gap="sm" align="center" maw={440}>
        <Title order={1} ta="center">
          {title}
        </Title>
        <Text c="dimmed" ta="center">
          {text}
        </Text>
        <Group mt="sm" justify="center">
          {children}
        </Group>
      </Stack>
    </Center>
  );
}
