import { Stack } from '@mantine/core';
import type { Metadata } from 'next';
import { requireAdmin } from '@/lib/auth/staff-session';
import { listOwnClients, type OwnClient } from '@/lib/oauth/own-clients';
import { getRuntime } from '@/lib/runtime';
import { type SearchParams, toParams } from '../../../_components/search-params';
import { Day } from '../../_components/display/values';
import { ConfirmButton } from '../../_components/forms/confirm-button';
import { RecordList } from '../../_components/lists/record-list';
import { Notice } from '../../_components/page/notice';
import { PageHeader } from '../../_components/page/page-header';
import { Nothing, Section } from '../../_components/page/section';
import { addClient, removeClient } from '../actions';
import { AddForm } from './add-form';

export const metadata: Metadata = { title: 'OAuth clients' };

export default async function ClientsPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireAdmin();
  const { db, env } = await getRuntime();
  const clients = await listOwnClients(db);
  const wasRemoved = toParams(await searchParams).get('notice') === 'removed';
  return (
    <>
      <PageHeader
        back={{ href: '/admin/tokens', label: 'Access tokens' }}
        title="OAuth clients"
        description="For clients that ask for a client ID, such as Gemini Enterprise and Copilot Studio. Others register themselves."
      />
      {wasRemoved && <Notice tone="done">The client and its access are removed.</Notice>}
      <Stack gap="xl">
        <Section title="Register a client">
          <AddForm action={addClient} />
        </Section>
        <Section title="Registered by admins">
          <Clients clients={clients} timeZone={env.timeZone} />
        </Section>
      </Stack>
    </>
  );
}

function Clients({ clients, timeZone }: { clients: OwnClient[]; timeZone: string }) {
  if (clients.length === 0) return <Nothing title="No clients" text="Nobody has registered one by hand." />;
  return (
    <RecordList
      label="OAuth clients"
      rows={clients}
      keyOf={({ id }) => id}
      columns={[
        { label: 'Name', cell: ({ name }) => name },
        { label: 'Client ID', width: '24%', cell: ({ clientId }) => clientId },
        {
          label: 'Redirects',
          width: '30%',
          wraps: true,
          cell: ({ redirectUris }) => redirectUris.join(', '),
        },
        {
          label: 'Registered',
          width: '12%',
          cell: ({ created }) => <Day at={created} timeZone={timeZone} />,
        },
        { label: 'Action', width: '12%', cell: (client) => <Remove client={client} /> },
      ]}
      entryOf={(client) => ({
        title: client.name,
        detail: client.redirectUris.join(', '),
        state: <Remove client={client} />,
      })}
    />
  );
}

function Remove({ client }: { client: OwnClient }) {
  return (
    <ConfirmButton
      action={removeClient.bind(null, client.id)}
      question="Remove this client?"
      confirm="Remove client"
      color="red.9"
      size="xs"
      aria-label={`Remove ${client.name}`}
      consequences={[
        client.name ?? client.clientId,
        'Anyone who uses it has to connect again with another client.',
      ]}
    >
      Remove
    </ConfirmButton>
  );
}
