import { Center, Paper, Stack, Text, Title } from '@mantine/core';
import type { Metadata } from 'next';
import { notFound, redirect } from 'next/navigation';
import { isFirstAdminToken } from '@/lib/auth/first-admin';
import { currentStaff } from '@/lib/auth/staff-session';
import { getRuntime } from '@/lib/runtime';
import { Brand } from '../../../_components/brand';
import { createAdmin } from './actions';
import { FirstAdminForm } from './first-admin-form';

export const metadata: Metadata = { title: 'The first admin' };

/** Looking at it uses nothing up: programs that preview addresses open them too. */
export default async function FirstAdminPage({ params }: { params: Promise<{ token: string }> }) {
  if (await currentStaff()) redirect('/admin');
  const { token } = await params;
  const { db, now } = await getRuntime();
  if (!(await isFirstAdminToken(db, token, now()))) notFound();
  return (
    <Center component="main" mih="100vh" p="md" bg="var(--w5t-subtle)">
      <Stack w="100%" maw={400} gap="lg" pb="10vh">
        <Brand />
        <Paper withBorder shadow="sm" radius="lg" p={{ base: 'lg', xs: 'xl' }}>
          <Stack gap="lg">
            <Title order={1}>Make the first admin</Title>
            <Text c="dimmed" size="sm">
              Admins issue access tokens and let others sign in. This page works once.
            </Text>
            <FirstAdminForm action={createAdmin.bind(null, token)} />
          </Stack>
        </Paper>
      </Stack>
    </Center>
  );
}
