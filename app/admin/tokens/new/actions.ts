'use server';

import { revalidatePath } from 'next/cache';
import { requireAdmin, staffActor } from '@/lib/auth/session/staff-session';
import { issueAccessToken, type TypedToken } from '@/lib/auth/tokens/issue-access-token';
import { AppError } from '@/lib/errors';
import { getRuntime } from '@/lib/runtime';
import { toProblems } from '../../_components/forms/to-problems';

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
