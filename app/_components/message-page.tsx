import { Center, Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface Props {
  title: string;
  text: ReactNode;
  children: ReactNode;
  /** A part of one where a layout has the landmark already. */
  component?: 'main' | 'div';
}

/** A page that only says something, with what to do next beneath. */
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
