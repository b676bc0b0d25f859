'use client';

import { useActionState } from 'react';
import { Secret } from '../../../_components/forms/secret';
import { SheetForm } from '../../../_components/forms/sheet-form';
import { PasswordField } from '../../password-field';
import type { PasswordState } from './actions';

interface Props {
  action(before: PasswordState, form: FormData): Promise<PasswordState>;
  /** The person's page. */
  back: string;
}

export function PasswordForm({ action, back }: Props) {
  const [{ problem, reset }, submit, pending] = useActionState(action, { problem: null, reset: null });
  if (reset) {
    return (
      <Secret
        title={`${reset.email} has a new password and is signed out.`}
        name="password"
        text={reset.password}
        advice="Send it to them in a way you trust. They choose their own when they next sign in."
        done={back}
      />
    );
  }
  return (
    <SheetForm label="Password" action={submit} submit="Reset password" cancel={back} pending={pending}>
      <PasswordField error={problem ?? undefined} />
    </SheetForm>
  );
}
