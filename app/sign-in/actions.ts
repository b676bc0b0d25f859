'use server';

import { redirect } from 'next/navigation';
import { safeNextPath } from '@/lib/auth/staff-path';
import { signInStaff, signOutStaff } from '@/lib/auth/staff-session';

export interface SignInState {
  email: string;
  /** The sentence to show; null before the first try. */
  problem: string | null;
}

export async function signIn(_before: SignInState, form: FormData): Promise<SignInState> {
  const email = textOf(form, 'email');
  const problem = await signInStaff(email, textOf(form, 'password'));
  if (problem) return { email, problem };
  redirect(safeNextPath(textOf(form, 'next')));
}

export async function signOut(): Promise<void> {
  await signOutStaff();
  redirect('/sign-in');
}

function textOf(form: FormData, field: string): string {
  const value = form.get(field);
  return typeof value === 'string' ? value : '';
}
