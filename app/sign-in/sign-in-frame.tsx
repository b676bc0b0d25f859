import { Center, Paper, Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Brand } from '../_components/brand';

/** The page of people without a session: one card under the brand. */
export function SignInFrame({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Center component="main" mih="100vh" p="md" bg="var(--w5t-subtle)">
      <Stack w="100%" maw={400} gap="lg" pb="10vh">
        <Brand />
        <Paper withBorder shadow="sm" radius="lg" p={{ base: 'lg', xs: 'xl' }}>
          <Stack gap="lg">
            <Title order={1}>{title}</Title>
            {children}
          </Stack>
        </Paper>
      </Stack>
    </Center>
  );
}
