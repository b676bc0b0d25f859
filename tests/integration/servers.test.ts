import { expect, test } from 'vitest';
import { listServers } from '@/lib/servers/queries';
import { useDatabase } from '../support/database';
import { createServer } from '../support/factories';

const base = useDatabase();

test('listServers answers every server by hostname, as people know it', async () => {
  await createServer(base.db, { hostname: 'web2.example.net' });
  const { created_at, updated_at, version, ...row } = await createServer(base.db, {
    hostname: 'web1.example.net',
    ipv4: ['192.0.2.1', '192.0.2.2'],
    ipv6: ['2001:db8::1'],
    cpu_cores: 16,
    ram_gb: 64,
    status: 'maintenance',
  });
  const servers = await listServers(base.db);
  expect(servers.map((server) => server.hostname)).toEqual(['web1.example.net', 'web2.example.net']);
  expect(servers[0]).toEqual(row);
});
