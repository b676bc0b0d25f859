import { z } from 'zod';
import { listServers } from '@/lib/servers/queries';
import { serverRow } from '@/lib/servers/schema';
import { defineTool } from '../define-tool';
import { fieldsArgument, pickFields, requireColumns } from '../lists/pick-fields';

export const listServersTool = defineTool({
  name: 'list-servers-tool',
  title: 'List servers',
  scope: 'servers:read',
  description:
    'Lists every server by hostname: addresses, stack, operating system, hardware, control panel, status. Takes nothing but fields. The server_id of a service is the id of one of these.',
  input: z.strictObject({ fields: fieldsArgument }),
  output: z.object({ count: z.int(), data: z.array(serverRow), has_more: z.boolean() }),
  run: async (db, { fields }) => {
    if (fields) requireColumns(fields, serverRow);
    const data = await listServers(db);
    const rows = fields ? data.map((row) => pickFields(row, fields) as (typeof data)[number]) : data;
    return { count: data.length, data: rows, has_more: false };
  },
});
