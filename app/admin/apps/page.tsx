import { type ConnectedApp, listConnectedApps } from '@/lib/oauth/connected-apps';
import { READ_SCOPES } from '@/lib/oauth/metadata';
import { READ_TEXTS } from '../../_components/scope-texts';
import { Instant } from '../_components/display/values';
import { ConfirmButton } from '../_components/forms/confirm-button';
import { OutcomeNotice } from '../_components/forms/record/record-notice';
import { RecordList } from '../_components/lists/record-list';
import { Nothing, Page, Section, staffPage } from '../_components/page/staff-page';
import { disconnect } from './actions';

export const metadata = { title: 'Connected apps' };

export default staffPage(async ({ staff: { id, role }, db, timeZone, notice }) => {
  const mine = await listConnectedApps(db, id);
  const others =
    role === 'admin' ? (await listConnectedApps(db, null)).filter(({ staff }) => staff.id !== id) : null;
  return (
    <Page
      title="Connected apps"
      description="Assistants that you have connected to your account. Each can read only what you allowed."
      notice={
        <OutcomeNotice
          notice={notice}
          done={{ disconnected: 'The app is disconnected: its next request will be refused.' }}
        />
      }
    >
      <Section title="Yours">
        <Apps
          label="Your apps"
          apps={mine}
          timeZone={timeZone}
          nothing="Add this service’s address to an assistant, then allow the connection here."
        />
      </Section>
      {others && (
        <Section title="Other staff">
          <Apps
            label="Apps of other staff"
            apps={others}
            timeZone={timeZone}
            showsStaff
            nothing="No other staff have connected an app."
          />
        </Section>
      )}
    </Page>
  );
});

interface Props {
  label: string;
  apps: ConnectedApp[];
  timeZone: string;
  /** Whether to show which member of staff authorized each app. */
  showsStaff?: boolean;
  nothing: string;
}

function Apps({ label, apps, timeZone, showsStaff = false, nothing }: Props) {
  if (apps.length === 0) return <Nothing title="No connected apps" text={nothing} />;
  const staffColumn = { label: 'Staff', width: '20%', cell: ({ staff }: ConnectedApp) => staff.email };
  return (
    <RecordList
      label={label}
      rows={apps}
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
        'Its next request will be refused. It can be connected again.',
      ]}
    >
      Disconnect
    </ConfirmButton>
  );
}
