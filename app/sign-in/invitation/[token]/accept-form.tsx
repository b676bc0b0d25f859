'use client';

import { Button, PasswordInput, Stack } from '@mantine/core';
import { useActionState } from 'react';
import { ProblemAlert } from '../../../_components/problem-alert';
import { useFirstWrong } from '../../../admin/_components/forms/use-first-wrong';

interface Props {
  action(before: Record<string, string>, form: FormData): Promise<Record<string, string>>;
  /** For the browser, which remembers both. */
  email: string;
}

export function AcceptForm({ action, email }: Props) {
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
