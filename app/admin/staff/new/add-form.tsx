'use client';

import { Radio, TextInput } from '@mantine/core';
import { useActionState, useState } from 'react';
import { ChoiceGroup } from '../../_components/forms/choice-group';
import { Secret } from '../../_components/forms/secret';
import { SheetForm } from '../../_components/forms/sheet-form';
import { useFirstWrong } from '../../_components/forms/use-first-wrong';
import { InvitationLink } from '../invitation-link';
import { PasswordField } from '../password-field';
import { ROLE_LABELS, ROLE_TEXTS } from '../role-text';
import type { AddState } from './actions';

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
