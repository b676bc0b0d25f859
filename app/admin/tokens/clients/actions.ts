'use server';

import { revalidatePath } from 'next/cache';
import { staffSecret } from '@/lib/auth/session/staff-secret';
import { requireAdmin, staffActor } from '@/lib/auth/session/staff-session';
import { AppError } from '@/lib/errors';
import { addOwnClient, removeOwnClient, type TypedClient } from '@/lib/oauth/own-clients';
import { getRuntime } from '@/lib/runtime';
import { leaveFor, refusalOf, toProblems } from '../../_components/page/staff-action';

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
