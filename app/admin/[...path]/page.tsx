import { notFound } from 'next/navigation';
import { requireStaff } from '@/lib/auth/staff-session';

/** Shows the not-found page for unknown URLs below /admin. Redirects to the sign-in page if there is no session. */
export default async function NoSuchPage() {
  await requireStaff();
  notFound();
}
