import { listOwnClients, type OwnClient } from '@/lib/oauth/own-clients';
import { Day } from '../../_components/display/values';
import { ConfirmButton } from '../../_components/forms/confirm-button';
import type { FormField } from '../../_components/forms/field';
import { ActionForm } from '../../_components/forms/form';
import { OutcomeNotice } from '../../_components/forms/record/record-notice';
import { RecordList } from '../../_components/lists/record-list';
import { adminPage, Nothing, Page, Section } from '../../_components/page/staff-page';
import { addClient, removeClient } from '../actions';

export const metadata = { title: 'OAuth clients' };

export default adminPage(async ({ db, timeZone, notice }) => (
  <Page
    back={{ href: '/admin/tokens', label: 'Access tokens' }}
    title="OAuth clients"
    description="For clients that ask for a client ID, such as Gemini Enterprise and Copilot Studio. Others register themselves."
    notice={<OutcomeNotice notice={notice} done={{ removed: 'The client and its access are removed.' }} />}
  >
    <Section title="Register a client">
      <ActionForm
        label="OAuth client"
        action={addClient}
        typed={{ hasSecret: true }}
        fields={FIELDS}
        submit="Register client"
        stack={{ p: 'md', maw: 640 }}
      />
    </Section>
    <Section title="Registered by admins">
      <Clients clients={await listOwnClients(db)} timeZone={timeZone} />
    </Section>
  </Page>
));

const FIELDS: FormField[] = [
  {
    name: 'name',
    label: 'Name',
    description: 'Staff see it when they are asked for consent.',
    maxLength: 100,
    required: true,
  },
  {
    name: 'redirects',
    label: 'Redirect addresses',
    kind: 'list',
    description: 'As shown in the client’s settings, one per line.',
    required: true,
  },
  {
    name: 'hasSecret',
    label: 'Uses a client secret',
    kind: 'flag',
    description: 'For a service such as Copilot Studio, not for a program that people install.',
  },
];

function Clients({ clients, timeZone }: { clients: OwnClient[]; timeZone: string }) {
  if (clients.length === 0)
    return <Nothing title="No clients" text="No client has been registered by hand." />;
  return (
    <RecordList
      label="OAuth clients"
      rows={clients}
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
        'Anyone who uses it will have to connect again with another client.',
      ]}
    >
      Remove
    </ConfirmButton>
  );
}
