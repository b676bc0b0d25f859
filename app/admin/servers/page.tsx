import type { Metadata } from 'next';
import { Suspense } from 'react';
import { requireStaff } from '@/lib/auth/staff-session';
import { getRuntime } from '@/lib/runtime';
import { listServers } from '@/lib/servers/queries';
import type { ServerRow } from '@/lib/servers/schema';
import { type SearchParams, toParams } from '../../_components/search-params';
import { ListFrame } from '../_components/list-frame';
import { ListSkeleton } from '../_components/list-skeleton';
import { PageHeader } from '../_components/page-header';
import { NewLink } from '../_components/record/new-link';
import { RecordNotice } from '../_components/record/record-notice';
import { type Column, RecordList } from '../_components/record-list';
import { StatusBadge } from '../_components/status-badge';
import { PATH } from './path';

export const metadata: Metadata = { title: 'Servers' };

export default async function ServersPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const notice = toParams(await searchParams).get('notice');
  return (
    <>
      <PageHeader
        title="Servers"
        description="What services run on, by host name."
        actions={<NewLink href={`${PATH}/new`}>New server</NewLink>}
      />
      <RecordNotice notice={notice} done={{ deleted: 'The server is deleted.' }} />
      <Suspense fallback={<ListSkeleton />}>
        <Results />
      </Suspense>
    </>
  );
}

async function Results() {
  const { db } = await getRuntime();
  const servers = await listServers(db);
  return (
    <ListFrame
      isEmpty={servers.length === 0}
      noun="servers"
      yet="They appear here as soon as there is one."
      isFiltered={false}
      isDeep={false}
    >
      <RecordList
        label="Servers"
        rows={servers}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => `${PATH}/${id}`}
        columns={COLUMNS}
        entryOf={(server) => ({
          title: server.hostname,
          detail: [server.ipv4[0], server.location].filter(Boolean).join(' · '),
          state: <StatusBadge status={server.status} />,
        })}
      />
    </ListFrame>
  );
}

const COLUMNS: Column<ServerRow>[] = [
  { label: 'Host name', cell: ({ hostname }) => <strong>{hostname}</strong> },
  { label: 'Status', width: '14%', cell: ({ status }) => <StatusBadge status={status} /> },
  { label: 'Address', width: '17%', cell: ({ ipv4, ipv6 }) => ipv4[0] ?? ipv6[0] ?? '–' },
  { label: 'System', width: '20%', cell: ({ operating_system }) => operating_system ?? '–' },
  { label: 'Location', width: '20%', cell: ({ location }) => location ?? '–' },
];
