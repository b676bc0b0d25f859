import { Stack, Text } from '@mantine/core';
import type { AlertState } from '@/lib/alerts/alert-state';
import { adviceFor } from '@/lib/alerts/alert-state';
import { channelsOf } from '@/lib/alerts/channels';
import { listReported } from '@/lib/alerts/watch-alerts';
import { Dimmed, Instant } from '../../_components/display/values';
import { OutcomeNotice } from '../../_components/forms/record/record-notice';
import { SubmitButton } from '../../_components/forms/submit-button';
import { RecordList } from '../../_components/lists/record-list';
import { adminPage, Nothing, Page, Section } from '../../_components/page/staff-page';
import { sendTest } from '../actions';

export const metadata = { title: 'Alerts' };

export default adminPage(async ({ runtime, timeZone, notice }) => {
  const channels = channelsOf(runtime.env);
  const targetOf = (name: string) =>
    channels.find((channel) => channel.name === name)?.target ?? 'Not set up';
  return (
    <Page
      title="Alerts"
      description="Problems that the service reports to you, once when they start and once when they end."
      notice={
        <OutcomeNotice
          notice={notice}
          done={{ sent: 'The test alert was delivered.' }}
          refused={{
            failed: 'The test alert was not delivered to every channel. The list shows why.',
            no_channel: 'Set ALERT_WEBHOOK_URL or SMTP_URL first, and restart.',
          }}
        />
      }
    >
      <Section
        title="Channels"
        facts={{ Webhook: targetOf('webhook'), Mail: targetOf('mail') }}
        action={
          channels.length > 0 && (
            <form action={sendTest}>
              <SubmitButton variant="default">Send a test alert</SubmitButton>
            </form>
          )
        }
      />
      <Section title="Reported problems">
        <Reported alerts={await listReported(runtime)} timeZone={timeZone} />
      </Section>
    </Page>
  );
});

function Reported({ alerts, timeZone }: { alerts: AlertState[]; timeZone: string }) {
  if (alerts.length === 0) {
    return <Nothing title="No problems" text="The service has not reported any problem yet." />;
  }
  return (
    <RecordList
      label="Reported problems"
      rows={alerts.map((alert) => ({ ...alert, id: alert.cause }))}
      columns={[
        { label: 'Problem', wraps: true, cell: (alert) => <Problem alert={alert} /> },
        {
          label: 'Since',
          width: '16%',
          cell: (alert) => <Instant at={alert.started_at} timeZone={timeZone} />,
        },
        {
          label: 'Ended',
          width: '16%',
          cell: ({ ended_at }) => (ended_at ? <Instant at={ended_at} timeZone={timeZone} /> : 'Not yet'),
        },
        { label: 'Delivery', width: '24%', wraps: true, cell: (alert) => deliveryOf(alert) },
      ]}
      entryOf={(alert) => ({
        title: alert.message,
        detail: alert.ended_at === null ? adviceFor(alert.cause) : deliveryOf(alert),
        state: alert.ended_at === null ? deliveryOf(alert) : 'Ended',
      })}
    />
  );
}

function Problem({ alert: { cause, message, ended_at } }: { alert: AlertState }) {
  return (
    <Stack gap={2}>
      <Text size="sm">{message}</Text>
      {ended_at === null && <Dimmed>{adviceFor(cause)}</Dimmed>}
    </Stack>
  );
}

function deliveryOf({ pending, attempts, failure }: AlertState): string {
  if (failure !== null) return `Failed ${attempts === 1 ? 'once' : `${attempts} times`}: ${failure}`;
  return pending.length > 0 ? 'Under way' : 'Delivered';
}
