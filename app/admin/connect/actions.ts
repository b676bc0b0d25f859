'use server';

import { requireAdmin, requireStaff, staffActor } from '@/lib/auth/session/staff-session';
import { issueAccessToken } from '@/lib/auth/tokens/issue-access-token';
import { type ConnectionReport, checkConnection } from '@/lib/http/oauth/check-connection';
import { getRuntime } from '@/lib/runtime';

/** Does at the public address what each client does. */
export async function check(): Promise<ConnectionReport> {
  const { id } = await requireStaff();
  return checkConnection(await getRuntime(), id);
}

/** Issues a token for a client, for 90 days, to fill its snippet with. @returns its text, once */
export async function issueFor(client: string): Promise<string> {
  const staff = await requireAdmin();
  const typed = {
    name: client.slice(0, 100),
    scopes: ['mcp:read'],
    hides_personal_data: false,
    expires: '90',
    last_day: '',
    staff_email: staff.email,
  };
  const { token } = await issueAccessToken(await getRuntime(), staffActor(staff), typed);
  return token;
}
