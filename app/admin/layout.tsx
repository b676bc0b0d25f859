import type { ReactNode } from 'react';
import { requireStaff } from '@/lib/auth/staff-session';
import { AdminShell } from './_components/shell/admin-shell';

export default async function AdminLayout({ children }: { children: ReactNode }) {
  const { name, email, role } = await requireStaff();
  return (
    <AdminShell user={{ name, email }} isAdmin={role === 'admin'}>
      {children}
    </AdminShell>
  );
}
