import { Stack } from '@mantine/core';
import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { type ConnectedApp, listConnectedApps } from '@/lib/oauth/connected-apps';
import { getRuntime } from '@/lib/runtime';
import { type SearchParams, toParams } from '../../_components/search-params';
import { Nothing } from '../_components/page/nothing';
import { Notice } from '../_components/page/notice';
import { PageHeader } from '../_components/page/page-header';
import { Section } from '../_components/page/section';
import { AppList } from './app-list';

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
