import { z } from 'zod';
import { listServers } from '@/lib/servers/queries';
import { serverRow } from '@/lib/servers/schema';
import { defineTool, TOKEN_CHARACTERS } from '../define-tool';
import { fieldsArgument, pickFields, requireColumns } from '../lists/pick-fields';

/** From so many servers on, an answer says how to ask for less. */
const MANY = 100;
/** The most that clients let a tool announce. */
const MOST_CHARACTERS = 500_000;

export const listServersTool = defineTool({
  name: 'list-servers-tool',
  title: 'List servers',
  scope: 'servers:read',
  description:
    'Lists every server by hostname: addresses, stack, operating system, hardware, control panel, status. The server_id of a service is the id of one.',
  input: z.strictObject({ fields: fieldsArgument }),
  maxCharacters: MOST_CHARACTERS,
  output: z.object({
    hint: z.string().optional(),
    count: z.int(),
    data: z.array(serverRow),
    has_more: z.boolean(),
  }),
  run: async (db, { fields }) => {
    if (fields) requireColumns(fields, serverRow);
    const data = await listServers(db);
    const rows = fields ? data.map((row) => pickFields(row, fields) as (typeof data)[number]) : data;
    const answer = { count: data.length, data: rows, has_more: false };
    return fields || rows.length <= MANY ? answer : { hint: hintFor(rows), ...answer };
  },
});

/** There is no page, so a long answer begins with the way to a shorter one. */
function hintFor(rows: object[]): string {
  const tokens = Math.round(JSON.stringify(rows).length / TOKEN_CHARACTERS / 100) * 100;
  return `These are ${rows.length} servers, about ${tokens.toLocaleString('en-GB')} tokens. For less, ask again with fields, such as ["id","hostname","status"].`;
}
