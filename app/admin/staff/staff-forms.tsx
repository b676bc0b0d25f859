'use client';

import { PasswordInput, Radio, Stack, TextInput } from '@mantine/core';
import { useActionState, useState } from 'react';
import { ProblemAlert } from '@/app/_components/problem-alert';
import type { Invitation } from '@/lib/staff/invitations';
import { ChoiceGroup, FormFooter, SheetForm, useFirstWrong } from '../_components/forms/form';
import { Secret } from '../_components/forms/secret';
import type { AddState, InvitationState, PasswordState } from './actions';
import { ROLE_LABELS, ROLE_TEXTS } from './role-text';

const FIRST: AddState = {
  typed: { email: '', name: '', role: 'staff', way: 'invitation' },
  problems: {},
  added: null,
};
const ROLES = ['staff', 'admin'] as const;
const WAYS = [
  {
    way: 'invitation',
    label: 'With an invitation link',
    description: 'You send it to them. It works once, within 24 hours, and they choose their password.',
  },
  {
    way: 'password',
    label: 'With a first password',
    description: 'You send it to them, and they replace it when they first sign in.',
  },
];

export function AddForm({ action }: { action(before: AddState, form: FormData): Promise<AddState> }) {
  const [{ typed, problems, added }, submit, pending] = useActionState(action, FIRST);
  const form = useFirstWrong(problems);
  const [way, setWay] = useState(typed.way);

  if (added) {
    if ('url' in added) return <InvitationLink {...added} done="/admin/staff" />;
    return (
      <Secret
        title={`${added.email} can sign in now.`}
        name="password"
        text={added.password}
        advice="Send it to them in a way you trust. They choose their own when they first sign in."
        done="/admin/staff"
      />
    );
  }
  const field = (name: 'email' | 'name') => ({
    name,
    defaultValue: typed[name],
    error: problems[name],
    autoComplete: 'off',
    withAsterisk: false,
  });
  return (
    <SheetForm
      label="Person"
      action={submit}
      form={form}
      problem={problems['']}
      submit="Add person"
      cancel="/admin/staff"
      pending={pending}
    >
      <TextInput label="E-mail" type="email" maxLength={254} required {...field('email')} />
      <TextInput
        label="Name"
        description="Leave empty to use the part before the @."
        maxLength={100}
        {...field('name')}
      />
      <ChoiceGroup label="Role" error={problems.role}>
        {ROLES.map((role) => (
          <Radio
            key={role}
            name="role"
            value={role}
            label={ROLE_LABELS[role]}
            description={ROLE_TEXTS[role]}
            defaultChecked={typed.role === role}
          />
        ))}
      </ChoiceGroup>
      <ChoiceGroup label="How they get in">
        {WAYS.map(({ way: value, ...texts }) => (
          <Radio
            key={value}
            name="way"
            value={value}
            checked={way === value}
            onChange={() => setWay(value)}
            {...texts}
          />
        ))}
      </ChoiceGroup>
      {way === 'password' && <PasswordField error={problems.password} />}
    </SheetForm>
  );
}

interface FormProps {
  action(): Promise<InvitationState>;
  /** The person's page. */
  back: string;
}

export function InviteForm({ action, back }: FormProps) {
  const [{ problem, invitation }, submit, pending] = useActionState(action, {
    problem: null,
    invitation: null,
  });
  if (invitation) return <InvitationLink {...invitation} done={back} />;
  return (
    <form action={submit} aria-label="Invitation">
      <Stack gap="lg">
        <ProblemAlert problem={problem} />
        <FormFooter submit="Create invitation link" cancel={back} pending={pending} />
      </Stack>
    </form>
  );
}

/** The invitation address, shown once. */
function InvitationLink({ email, url, done }: Invitation & { done: string }) {
  return (
    <Secret
      title={`${email} is invited.`}
      name="link"
      text={url}
      advice="Send it to them in a way you trust. It works once, within 24 hours."
      done={done}
    />
  );
}

interface PasswordFormProps {
  action(before: PasswordState, form: FormData): Promise<PasswordState>;
  /** The person's page. */
  back: string;
}

export function PasswordForm({ action, back }: PasswordFormProps) {
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

/** A password for another person. If empty, one is generated. */
function PasswordField({ error }: { error: string | undefined }) {
  return (
    <PasswordInput
      label="Password"
      description="Leave empty to generate one. Otherwise 12 to 128 characters."
      name="password"
      autoComplete="new-password"
      maxLength={128}
      error={error}
    />
  );
}
