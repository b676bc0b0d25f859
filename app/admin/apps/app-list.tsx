import type { ConnectedApp } from '@/lib/oauth/connected-apps';
import { READ_SCOPES } from '@/lib/oauth/scopes';
import { READ_TEXTS } from '../../oauth/consent/scope-texts';
import { Instant } from '../_components/display/instant';
import { ConfirmButton } from '../_components/forms/confirm-button';
import { RecordList } from '../_components/lists/record-list';
import { disconnect } from './actions';

interface Props {
  label: string;
  apps: ConnectedApp[];
  timeZone: string;
  /** Where they are those of several people. */
  showsStaff?: boolean;
}

export function AppList({ label, apps, timeZone, showsStaff = false }: Props) {
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
