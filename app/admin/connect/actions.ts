'use server';

import { z } from 'zod';
import { checkConnection } from '@/lib/http/oauth/check-connection';
import { issueAccessToken } from '@/lib/tokens/manage-access-tokens';
import { staffAction } from '../_components/page/staff-action';

/** Tests whether each known MCP client can connect to the server's public URL. */
export const check = staffAction({
  role: 'staff',
  input: [],
  run: ({ runtime, staff }) => checkConnection(runtime, staff.id),
  done: (report) => report,
});

/** Issues a token for a client's configuration snippet, valid for 90 days. Only this result contains the token. */
export const issueFor = staffAction({
  role: 'admin',
  input: [z.string()],
  run: ({ runtime, actor, staff }, client) =>
    issueAccessToken(runtime, actor, {
      name: client.slice(0, 100),
      scopes: ['mcp:read'],
      hides_personal_data: false,
      expires: '90',
      last_day: '',
      staff_email: staff.email,
    }),
  done: ({ token }) => ({ token }),
});
