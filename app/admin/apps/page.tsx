import { Stack } from '@mantine/core';
import type { Metadata } from 'next';
import { READ_TEXTS } from '@/app/_components/scope-texts';
import { type SearchParams, toParams } from '@/app/_components/search-params';
import { requireStaff } from '@/lib/auth/staff-session';
import { type ConnectedApp, listConnectedApps } from '@/lib/oauth/connected-apps';
import { READ_SCOPES } from '@/lib/oauth/metadata';
import { getRuntime } from '@/lib/runtime';
import { Instant } from '../_components/display/values';
import { ConfirmButton } from '../_components/forms/confirm-button';
import { RecordList } from '../_components/lists/record-list';
import { Notice } from '../_components/page/notice';
import { PageHeader } from '../_components/page/page-header';
import { Nothing, Section } from '../_components/page/section';
import { disconnect } from './actions';

export const metadata: Metadata = { title: 'Connected apps' };

export default async function AppsPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const { id, role } = await requireStaff();
  const { db, env } = await getRuntime();
  const wasDisconnected = toParams(await searchParams).get('notice') === 'disconnected';
  const mine = await listConnectedApps(db, id);
  const others =
    role === 'admin' ? (await listConnectedApps(db, null)).filter(({ staff }) => staff.id !== id) : null;
  return (
    <>
      <PageHeader
        title="Connected apps"
        description="Assistants that you have connected to your account. Each can read only what you allowed."
      />
      {wasDisconnected && <Notice tone="done">The app is disconnected: its next request is refused.</Notice>}
      <Stack gap="xl">
        <Section title="Yours">
          <Apps
            label="Your apps"
            apps={mine}
            timeZone={env.timeZone}
            nothing="Add this service’s address to an assistant, then allow the connection here."
          />
        </Section>
        {others && (
          <Section title="Other staff">
            <Apps
              label="Apps of other staff"
              apps={others}
              timeZone={env.timeZone}
              showsStaff
              nothing="Nobody else has connected an app."
            />
          </Section>
        )}
      </Stack>
    </>
  );
}

interface AppsProps {
  label: string;
  apps: ConnectedApp[];
  timeZone: string;
  showsStaff?: boolean;
  nothing: string;
}

function Apps({ nothing, ...list }: AppsProps) {
  return list.apps.length > 0 ? <AppList {...list} /> : <Nothing title="No connected apps" text={nothing} />;
}

interface Props {
  label: string;
  apps: ConnectedApp[];
  timeZone: string;
  /** Where they are those of several people. */
  showsStaff?: boolean;
}

function AppList({ label, apps, timeZone, showsStaff = false }: Props) {
  const staffColumn = { label: 'Staff', width: '20%', cell: ({ staff }: ConnectedApp) => staff.email };
  return (
    <RecordList
      label={label}
      rows={apps}
      keyOf={({ id }) => id}
      columns={[
        { label: 'App', cell: ({ name, host }) => (host ? `${name} (${host})` : name) },
        ...(showsStaff ? [staffColumn] : []),
        { label: 'May read', width: '24%', wraps: true, cell: mayRead },
        { label: 'Connected', width: '16%', cell: ({ since }) => <Instant at={since} timeZone={timeZone} /> },
        {
          label: 'Latest token',
          width: '16%',
          cell: ({ refreshed }) => (refreshed ? <Instant at={refreshed} timeZone={timeZone} /> : '–'),
        },
        { label: 'Action', width: '13%', cell: (app) => <Disconnect app={app} /> },
      ]}
      entryOf={(app) => ({
        title: app.name,
        detail: showsStaff ? `${app.staff.email} · ${mayRead(app)}` : mayRead(app),
        state: <Disconnect app={app} />,
      })}
    />
  );
}

function mayRead({ scopes, hidesPersonalData }: ConnectedApp): string {
  const parts = READ_SCOPES.filter((scope) => scopes.includes(scope)).map((scope) => READ_TEXTS[scope].label);
  return hidesPersonalData ? `${parts.join(', ')}; personal data hidden` : parts.join(', ');
}

function Disconnect({ app }: { app: ConnectedApp }) {
  return (
    <ConfirmButton
      action={disconnect.bind(null, app.id)}
      question="Disconnect this app?"
      confirm="Disconnect app"
      color="red.9"
      size="xs"
      aria-label={`Disconnect ${app.name} of ${app.staff.email}`}
      consequences={[
        `${app.name}, for ${app.staff.email}`,
        'Its next request is refused. It can be connected again.',
      ]}
    >
      Disconnect
    </ConfirmButton>
  );
}
