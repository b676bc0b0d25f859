import { z } from 'zod';
import { listServers } from '@/lib/servers/queries';
import { serverRow } from '@/lib/servers/schema';
import { defineTool } from '../define-tool';

export const listServersTool = defineTool({
  name: 'list-servers-tool',
  title: 'List servers',
  description:
    'Lists every server by hostname: addresses, stack, operating system, hardware, control panel, status. Takes no arguments. The server_id of a service is the id of one of these.',
  input: z.strictObject({}),
  output: z.object({ count: z.int(), data: z.array(serverRow) }),
  run: async (db) => {
    const data = await listServers(db);
    return { count: data.length, data };
  },
});
