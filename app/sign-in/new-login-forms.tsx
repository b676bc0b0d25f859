'use client';

import { Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useActionState } from 'react';
import { ProblemAlert } from '../_components/problem-alert';
import { useFirstWrong } from '../admin/_components/forms/form';
import type { FirstAdminState } from './new-login-actions';

interface AcceptProps {
  action(before: Record<string, string>, form: FormData): Promise<Record<string, string>>;
  /** For the browser, which remembers both. */
  email: string;
}

export function AcceptForm({ action, email }: AcceptProps) {
  const [problems, submit, pending] = useActionState(action, {});
  const form = useFirstWrong(problems);
  const field = (name: string) => ({
    name,
    error: problems[name],
    autoComplete: 'new-password',
    maxLength: 128,
    required: true,
    withAsterisk: false,
    'aria-invalid': problems[name] ? true : undefined, // the field of a password says so by itself nowhere
  });
  return (
    <form action={submit} ref={form} aria-label="Invitation">
      <Stack gap="md">
        <ProblemAlert problem={problems['']} />
        <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
        <PasswordInput
          label="Password"
          description="12 to 128 characters."
          autoFocus
          {...field('password')}
        />
        <PasswordInput label="Password again" {...field('repeated')} />
        <Button type="submit" loading={pending} fullWidth mt="xs">
          Choose password
        </Button>
      </Stack>
    </form>
  );
}

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
