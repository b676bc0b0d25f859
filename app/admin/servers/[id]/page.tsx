import { Suspense } from 'react';
import { toPageRequest } from '@/app/_components/search-params';
import { type RecordState, readState } from '@/lib/records/steps';
import { getRuntime, type Runtime } from '@/lib/runtime';
import { getServer, type ServerRow } from '@/lib/servers/queries';
import { serverKind } from '@/lib/servers/save-servers';
import { listServices } from '@/lib/services/queries';
import { History } from '../../_components/audit/audit-trail';
import { RecordTitle } from '../../_components/display/values';
import { ALONE, RecordActions } from '../../_components/forms/record/record-actions';
import { RecordNotice } from '../../_components/forms/record/record-notice';
import { ListSkeleton, Pager } from '../../_components/lists/paged-list';
import { Page, recordPage, Section, titleOfRow } from '../../_components/page/staff-page';
import { ServiceList } from '../../_components/records/service-list';

export const generateMetadata = titleOfRow('Server', getServer, ({ hostname }) => hostname);

// Read the version first. If the server changes between the two reads, the page has the old version, so its actions
// are refused.
const read = async (db: Runtime['db'], id: number) => ({
  state: await readState(db, serverKind, id),
  server: await getServer(db, id),
});

export default recordPage(read, async ({ state, server }, { id, search, notice }) => {
  return (
    <Page
      back={{ href: '/admin/servers', label: 'Servers' }}
      title={<RecordTitle status={server.status}>{server.hostname}</RecordTitle>}
      description={server.location}
      actions={<ServerActions key={`${notice} ${state.version}`} server={server} state={state} />}
      notice={<RecordNotice notice={notice} done={DONE} />}
    >
      <Section title="Server" facts={factsOf(server)} />
      {/* These sections share one Suspense boundary, because a section that arrives later would move the others. */}
      <Suspense fallback={<ListSkeleton rows={5} />}>
        <ServicesOn serverId={id} query={search} />
        <History entity="server" id={id} kept={state.isReferredTo ? KEPT : null} />
      </Suspense>
    </Page>
  );
});

async function ServicesOn({ serverId, query }: { serverId: number; query: URLSearchParams }) {
  const { db } = await getRuntime();
  const page = await listServices(db, { server_id: serverId, ...toPageRequest(query) });
  const none = page.total > 0 ? 'The list ends before this page.' : 'None.';
  return (
    <div>
      <Section title="Services on it" none={page.data.length === 0 && none}>
        <ServiceList rows={page.data} />
      </Section>
      {page.total > 0 && (
        <Pager page={page} path={`/admin/servers/${serverId}`} params={query} noun="service" />
      )}
    </div>
  );
}

function factsOf(server: ServerRow) {
  const { cpu, cpu_cores, ram_gb } = server;
  return {
    'IPv4 addresses': server.ipv4.join(', ') || null,
    'IPv6 addresses': server.ipv6.join(', ') || null,
    'Operating system': server.operating_system,
    Stack: server.stack,
    'Control panel': server.control_panel,
    Processor: [cpu, cpu_cores && `${cpu_cores} cores`].filter(Boolean).join(', ') || null,
    Memory: ram_gb && `${ram_gb} GB`,
    Storage: server.storage,
    Location: server.location,
  };
}

function ServerActions({ server, state }: { server: ServerRow; state: RecordState }) {
  return (
    <RecordActions
      kind="server"
      texts={STEPS}
      record={{ ...server, version: state.version }}
      name={server.hostname}
      removal={state.isReferredTo ? null : ALONE}
    />
  );
}

const STAYS = 'Services on it stay as they are.';

const STEPS = {
  maintain: {
    label: 'Start maintenance',
    question: 'Start maintenance on this server?',
    consequences: [STAYS],
  },
  reactivate: {
    label: 'Back to active',
    question: 'Make this server active again?',
    consequences: ['It can be chosen for services.'],
  },
  decommission: {
    label: 'Decommission',
    question: 'Decommission this server?',
    consequences: [`${STAYS} No new ones can be added.`],
    isGrave: true,
  },
};

const DONE = {
  created: 'The server is created.',
  saved: 'Your changes are saved.',
  maintain: 'The server is in maintenance.',
  reactivate: 'The server is active again.',
  decommission: 'The server is decommissioned.',
};

const KEPT = 'Services run on this server, so it cannot be deleted. Decommission it instead.';
