import { Alert, Stack, Text } from '@mantine/core';
import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/staff-session';
import {
  CONNECT_INTRODUCTION,
  CONNECT_LIMITS,
  CONNECT_PROTOCOLS,
  listConnections,
} from '@/lib/mcp/connections';
import { getRuntime } from '@/lib/runtime';
import { TextLink } from '../../_components/links';
import { PageHeader } from '../_components/page/page-header';
import { Section } from '../_components/page/section';
import { check, issueFor } from './actions';
import { ClientTabs, ConnectionCheck } from './connect-parts';
import { InlineCode } from './inline-code';

export const metadata: Metadata = { title: 'Connect a client' };

export default async function ConnectPage() {
  const { role } = await requireStaff();
  const { env } = await getRuntime();
  return (
    <>
      <PageHeader
        title="Connect a client"
        description={
          <>
            <InlineCode text={CONNECT_INTRODUCTION} /> <TokenSource isAdmin={role === 'admin'} />
          </>
        }
      />
      <Stack gap="xl">
        <Section title="Clients">
          <ClientTabs
            connections={listConnections(env.publicUrl)}
            issue={role === 'admin' ? issueFor : undefined}
          />
        </Section>
        <Section title="Connection check">
          <ConnectionCheck action={check} />
        </Section>
        <Alert color="orange" variant="light">
          <InlineCode text={CONNECT_LIMITS} />
        </Alert>
        <Text size="sm" c="dimmed">
          <InlineCode text={CONNECT_PROTOCOLS} />
        </Text>
      </Stack>
    </>
  );
}

function TokenSource({ isAdmin }: { isAdmin: boolean }) {
  if (!isAdmin) return 'Ask an admin for an access token.';
  return (
    <>
      You can issue one under <TextLink href="/admin/tokens">Access tokens</TextLink>.
    </>
  );
}
