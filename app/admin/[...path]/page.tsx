import { notFound } from 'next/navigation';
import { requireStaff } from '@/lib/auth/staff-session';

/** Shows the not-found page for unknown staff addresses. Redirects to the sign-in page without a session. */
export default async function NoSuchPage() {
  await requireStaff();
  notFound();
}
