import { Alert, Text } from '@mantine/core';
import {
  CONNECT_INTRODUCTION,
  CONNECT_LIMITS,
  CONNECT_PROTOCOLS,
  listConnections,
} from '@/lib/mcp/connections';
import { TextLink } from '../../_components/links';
import { Page, Section, staffPage } from '../_components/page/staff-page';
import { check, issueFor } from './actions';
import { ClientTabs, ConnectionCheck, InlineCode } from './connect-parts';

export const metadata = { title: 'Connect a client' };

export default staffPage(async ({ staff, runtime: { env } }) => {
  const isAdmin = staff.role === 'admin';
  return (
    <Page
      title="Connect a client"
      description={
        <>
          <InlineCode text={CONNECT_INTRODUCTION} />{' '}
          {isAdmin ? (
            <>
              You can issue one under <TextLink href="/admin/tokens">Access tokens</TextLink>.
            </>
          ) : (
            'Ask an admin for an access token.'
          )}
        </>
      }
    >
      <Section title="Clients">
        <ClientTabs connections={listConnections(env.publicUrl)} issue={isAdmin ? issueFor : undefined} />
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
    </Page>
  );
});
