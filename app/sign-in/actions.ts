'use server';

import { redirect } from 'next/navigation';
import { signOutStaff } from '@/lib/auth/staff-session';

export async function signOut(): Promise<void> {
  await signOutStaff();
  redirect('/sign-in');
}
