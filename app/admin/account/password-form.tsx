import type { FormField } from '../_components/forms/field';
import { ActionForm } from '../_components/forms/form';
import { changePassword } from './actions';

/** Shows the form for staff to change their own password. @param then path of the page to open afterwards */
export function PasswordForm({ then }: { then: string }) {
  return (
    <ActionForm
      label="Password"
      action={changePassword.bind(null, then)}
      fields={[
        { ...PASSWORD, name: 'current', label: 'Current password', autoComplete: 'current-password' },
        ...newPassword('New password'),
      ]}
      submit="Change password"
      stack={{ maw: 400 }}
    />
  );
}

const PASSWORD = { kind: 'password', maxLength: 128, required: true } as const;

/** Returns the two fields for a new password and its repetition. */
export function newPassword(label: string): FormField[] {
  const field = { ...PASSWORD, autoComplete: 'new-password' };
  return [
    { ...field, name: 'password', label, description: '12 to 128 characters.' },
    { ...field, name: 'repeated', label: `${label} again` },
  ];
}
