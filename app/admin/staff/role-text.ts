import type { StaffRole } from '@/lib/auth/staff-user';

export const ROLE_LABELS: Record<StaffRole, string> = { staff: 'Staff', admin: 'Admin' };

/** The permissions of a role. */
export const ROLE_TEXTS: Record<StaffRole, string> = {
  staff: 'Browse, record, refund and delete payments, replay events and start reconciliation.',
  admin: 'All of that, and issue access tokens and manage staff.',
};
