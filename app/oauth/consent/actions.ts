'use server';

import { headers } from 'next/headers';
import { redirect } from 'next/navigation';
import { requireStaff } from '@/lib/auth/staff-session';
import { decideConsent } from '@/lib/http/oauth/authorize';
import { toReadScopes } from '@/lib/oauth/metadata';
import { getRuntime } from '@/lib/runtime';

/** Grants a client the chosen scopes or denies it access. Redirects to the client, or to a page with the error. */
export async function decide(form: FormData): Promise<void> {
  await requireStaff();
  const allows = form.get('decision') === 'allow';
  const target = await decideConsent(await getRuntime(), await headers(), {
    query: String(form.get('query') ?? ''),
    scopes: allows ? toReadScopes(form.getAll('scopes').map(String)) : [],
    hidesPersonalData: form.get('hides_personal_data') === 'on',
  });
  redirect(target);
}
