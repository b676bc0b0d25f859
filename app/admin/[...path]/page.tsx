import { notFound } from 'next/navigation';
import { requireStaff } from '@/lib/auth/session/staff-session';

/** Addresses without a page: to nobody signed in they look like the others. */
export default async function NoSuchPage() {
  await requireStaff();
  notFound();
}
