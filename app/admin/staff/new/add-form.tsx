'use client';

import { Alert, Button, Group, Paper, Radio, Stack, TextInput } from '@mantine/core';
import { useActionState } from 'react';
import { LinkButton } from '../../../_components/links';
import { ChoiceGroup } from '../../_components/choice-group';
import { Secret } from '../../_components/secret';
import { useFirstWrong } from '../../_components/use-first-wrong';
import { PasswordField } from '../password-field';
import { PATH } from '../path';
import { ROLE_LABELS, ROLE_TEXTS } from '../role-text';
import type { AddState } from './actions';

const FIRST: AddState = { typed: { email: '', name: '', role: 'staff' }, problems: {}, added: null };
const ROLES = ['staff', 'admin'] as const;

export function AddForm({ action }: { action(before: AddState, form: FormData): Promise<AddState> }) {
  const [{ typed, problems, added }, submit, pending] = useActionState(action, FIRST);
  const form = useFirstWrong(problems);

  if (added) {
    return (
      <Secret
        title={`${added.email} can sign in now.`}
        name="password"
        text={added.password}
        advice="Give it to the person over a way that you trust."
      >
        <LinkButton href={PATH} variant="default">
          Done
        </LinkButton>
      </Secret>
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
    <form action={submit} ref={form} aria-label="Person">
      <Paper withBorder radius="lg" p="lg">
        <Stack gap="lg">
          {problems[''] && (
            <Alert color="red" variant="light" role="alert">
              {problems['']}
            </Alert>
          )}
          <TextInput label="E-mail" type="email" maxLength={254} required {...field('email')} />
          <TextInput
            label="Name"
            description="Empty: the part of the address before the @."
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
          <PasswordField error={problems.password} />
          <Group gap="xs">
            <Button type="submit" loading={pending}>
              Add person
            </Button>
            <LinkButton href={PATH} variant="subtle">
              Cancel
            </LinkButton>
          </Group>
        </Stack>
      </Paper>
    </form>
  );
}
