import type { StaffRole } from '@/lib/auth/staff-user';
import type { FormField } from '../_components/forms/field';

export const ROLE_LABELS: Record<StaffRole, string> = { staff: 'Staff', admin: 'Admin' };

/** What admins may do and other staff may not, as the end of a sentence such as “They can …”. */
export const ADMIN_RIGHTS =
  'merge and erase customers, import files, change the settings, issue access tokens, read the log of tool calls and manage staff';

/** For each role, the sentence that lists its permissions. */
export const ROLE_TEXTS: Record<StaffRole, string> = {
  staff:
    'Read and change customers, invoices, sales documents, services and servers, record, refund and delete payments, book bank entries, replay events and start reconciliation.',
  admin: `All of that, and ${ADMIN_RIGHTS}.`,
};

/** The field for a password that an admin sets. If it is left empty, a password is generated. */
export const GIVEN_PASSWORD: FormField = {
  name: 'password',
  label: 'Password',
  kind: 'password',
  description: 'Leave empty to generate one. Otherwise 12 to 128 characters.',
  autoComplete: 'new-password',
  maxLength: 128,
};

/** The sentence for each outcome of an action, by the outcome's code in the URL. */
export const STAFF_OUTCOMES = {
  done: {
    role: 'The role is changed and takes effect at once.',
    'signed-out': 'All sessions have ended.',
    'factor-reset': 'The second factor is removed, and the person is signed out.',
    demanded: 'Everyone must now use an authenticator app. Anyone without one must set it up to continue.',
    'not-demanded': 'Two-factor authentication is now optional.',
    removed: 'The person is removed and signed out.',
  },
  refused: {
    not_found: 'Nothing was changed: the person was removed in the meantime.',
  },
};
