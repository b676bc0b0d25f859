import {
  listServersForStaff,
  SERVER_STATUSES,
  type ServerRow,
  serverFilters,
  serversCsv,
} from '@/lib/servers/queries';
import { joinTexts } from '../../_components/format';
import { StatusBadge } from '../_components/display/values';
import { choiceOf, declareList } from '../_components/lists/list-declaration';
import { type Column, RecordList } from '../_components/lists/record-list';

export const SERVERS = declareList({
  title: 'Servers',
  description: 'The machines that services run on.',
  path: '/admin/servers',
  noun: 'server',
  yet: 'They appear here as soon as one is added.',
  source: {
    schema: serverFilters,
    read: (db, filters, { request }) => listServersForStaff(db, filters, request),
    csv: serversCsv,
  },
  fields: () => [
    { name: 'q', label: 'Server', placeholder: 'Part of a host name, address, location' },
    { name: 'status', label: 'Status', options: choiceOf(SERVER_STATUSES) },
  ],
  Rows: ({ rows }) => (
    <RecordList
      label="Servers"
      rows={rows}
      hrefOf={({ id }) => `/admin/servers/${id}`}
      columns={COLUMNS}
      entryOf={(server) => ({
        title: server.hostname,
        detail: joinTexts(server.ipv4[0], server.location),
        state: <StatusBadge status={server.status} />,
      })}
    />
  ),
});

const COLUMNS: Column<ServerRow>[] = [
  { label: 'Host name', cell: ({ hostname }) => <strong>{hostname}</strong> },
  { label: 'Status', width: '14%', cell: ({ status }) => <StatusBadge status={status} /> },
  { label: 'Address', width: '17%', cell: ({ ipv4, ipv6 }) => ipv4[0] ?? ipv6[0] ?? '–' },
  { label: 'System', width: '20%', cell: ({ operating_system }) => operating_system, title: true },
  { label: 'Location', width: '20%', cell: ({ location }) => location, title: true },
];
