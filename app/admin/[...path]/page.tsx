import { notFound } from 'next/navigation';
import { requireStaff } from '@/lib/auth/staff-session';

/** Shows the not-found page for unknown staff addresses. Without a session it redirects, as every staff page does. */
export default async function NoSuchPage() {
  await requireStaff();
  notFound();
}
