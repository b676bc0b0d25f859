'use server';

import { revalidatePath } from 'next/cache';
import { staffSecret } from '@/lib/auth/session/staff-secret';
import { requireAdmin, staffActor } from '@/lib/auth/session/staff-session';
import { issueAccessToken, type TypedToken } from '@/lib/auth/tokens/issue-access-token';
import { revokeAccessToken } from '@/lib/auth/tokens/manage-access-tokens';
import { AppError } from '@/lib/errors';
import { addOwnClient, removeOwnClient, type TypedClient } from '@/lib/oauth/own-clients';
import { getRuntime } from '@/lib/runtime';
import { leaveFor, refusalOf, toProblems } from '../_components/page/staff-action';

export interface IssueState {
  /** The fields as they were typed. */
  typed: TypedToken;
  /** Of each wrong field its sentence. */
  problems: Record<string, string>;
  /** The token's text, for this one answer. */
  issued: { name: string; token: string } | null;
}

/** Issues a token and shows it, once. */
export async function issue(_before: IssueState, form: FormData): Promise<IssueState> {
  const staff = await requireAdmin();
  const text = (field: string) => String(form.get(field) ?? '');
  const typed: TypedToken = {
    name: text('name'),
    scopes: form.getAll('scopes').map(String),
    hides_personal_data: form.get('hides_personal_data') === 'on',
    expires: text('expires'),
    last_day: text('last_day'),
    staff_email: text('staff_email'),
  };
  try {
    const { name, token } = await issueAccessToken(await getRuntime(), staffActor(staff), typed);
    revalidatePath('/admin', 'layout');
    return { typed, problems: {}, issued: { name, token } };
  } catch (error) {
    if (error instanceof AppError) return { typed, problems: toProblems(error, typed), issued: null };
    throw error;
  }
}

/** Ends a token at once; one that was revoked meanwhile stays as it is. */
export async function revoke(id: number): Promise<void> {
  const staff = await requireAdmin();
  const { db, now } = await getRuntime();
  await refusalOf(revokeAccessToken(db, id, { actor: staffActor(staff), now: now() }));
  leaveFor(`/admin/tokens/${id}?notice=revoked`);
}

export interface ClientState {
  typed: TypedClient;
  problems: Record<string, string>;
  /** What the client signs in with, for this one answer. */
  made: { name: string; clientId: string; clientSecret: string | null } | null;
}

/** Enters a client, and shows its secret once. */
export async function addClient(_before: ClientState, form: FormData): Promise<ClientState> {
  const staff = await requireAdmin();
  const typed: TypedClient = {
    name: String(form.get('name') ?? ''),
    redirects: String(form.get('redirects') ?? ''),
    hasSecret: form.get('hasSecret') === 'on',
  };
  const runtime = await getRuntime();
  try {
    const secret = staffSecret(runtime.env, runtime.randomBytes);
    const made = await addOwnClient(runtime, typed, { actor: staffActor(staff), secret });
    revalidatePath('/admin', 'layout');
    return { typed, problems: {}, made: { name: typed.name, ...made } };
  } catch (error) {
    if (error instanceof AppError) return { typed, problems: toProblems(error, typed), made: null };
    throw error;
  }
}

/** Removes a client and what it was allowed. */
export async function removeClient(id: string): Promise<void> {
  const staff = await requireAdmin();
  const { db } = await getRuntime();
  await refusalOf(removeOwnClient(db, id, staffActor(staff)));
  leaveFor('/admin/tokens/clients?notice=removed');
}
