import type { ServerRow } from '@/lib/servers/queries';
import { listServersForStaff, SERVER_STATUSES, serverFilters, serversCsv } from '@/lib/servers/queries';
import { choiceOf } from '../_components/lists/choice';
import type { ListDeclaration } from '../_components/lists/list-declaration';
import { ServerList } from './server-list';

export const SERVERS = {
  title: 'Servers',
  description: 'The machines that services run on.',
  path: '/admin/servers',
  noun: 'server',
  yet: 'They appear here as soon as one is added.',
  schema: serverFilters,
  fields: () => [
    { name: 'q', label: 'Server', placeholder: 'Part of a host name, address, location' },
    { name: 'status', label: 'Status', options: choiceOf(SERVER_STATUSES) },
  ],
  read: ({ db }, filters, { request }) => listServersForStaff(db, filters, request),
  Rows: ({ rows }) => <ServerList servers={rows} />,
  csv: ({ db }, filters) => serversCsv(db, filters),
} satisfies ListDeclaration<typeof serverFilters, ServerRow>;
