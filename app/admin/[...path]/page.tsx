import { notFound } from 'next/navigation';
import { requireStaff } from '@/lib/auth/staff-session';

/** Unknown addresses. Without a session they redirect to the sign-in page, like all others. */
export default async function NoSuchPage() {
  await requireStaff();
  notFound();
}
