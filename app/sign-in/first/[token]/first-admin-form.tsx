'use client';

import { Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useActionState } from 'react';
import { ProblemAlert } from '../../../_components/problem-alert';
import { useFirstWrong } from '../../../admin/_components/forms/use-first-wrong';
import type { FirstAdminState } from './actions';

const FIRST: FirstAdminState = { typed: { email: '', name: '' }, problems: {} };

interface Props {
  action(before: FirstAdminState, form: FormData): Promise<FirstAdminState>;
}

export function FirstAdminForm({ action }: Props) {
  const [{ typed, problems }, submit, pending] = useActionState(action, FIRST);
  const form = useFirstWrong(problems);
  const field = (name: string) => ({
    name,
    error: problems[name],
    withAsterisk: false,
    'aria-invalid': problems[name] ? true : undefined, // the field of a password says so by itself nowhere
  });
  return (
    <form action={submit} ref={form} aria-label="First admin">
      <Stack gap="md">
        <ProblemAlert problem={problems['']} />
        <TextInput
          label="E-mail"
          type="email"
          autoComplete="username"
          maxLength={254}
          defaultValue={typed.email}
          required
          autoFocus
          {...field('email')}
        />
        <TextInput
          label="Name"
          description="Leave empty to use the part before the @."
          autoComplete="name"
          maxLength={100}
          defaultValue={typed.name}
          {...field('name')}
        />
        <PasswordInput
          label="Password"
          description="12 to 128 characters."
          autoComplete="new-password"
          maxLength={128}
          required
          {...field('password')}
        />
        <PasswordInput
          label="Password again"
          autoComplete="new-password"
          maxLength={128}
          required
          {...field('repeated')}
        />
        <Button type="submit" loading={pending} fullWidth mt="xs">
          Create admin
        </Button>
      </Stack>
    </form>
  );
}
