'use client';

import { Button, PasswordInput, Stack } from '@mantine/core';
import { useActionState } from 'react';
import { ProblemAlert } from '../../_components/problem-alert';
import { useFirstWrong } from '../_components/forms/form';
import type { Problems } from './actions';

interface Props {
  action(before: Problems, form: FormData): Promise<Problems>;
}

/** Chooses another password. */
export function PasswordForm({ action }: Props) {
  const [problems, submit, pending] = useActionState(action, {});
  const form = useFirstWrong(problems);
  const field = (name: string) => ({
    name,
    error: problems[name],
    maxLength: 128,
    required: true,
    withAsterisk: false,
    'aria-invalid': problems[name] ? true : undefined, // the field of a password says so by itself nowhere
  });
  return (
    <form action={submit} ref={form} aria-label="Password">
      <Stack gap="md" maw={400}>
        <ProblemAlert problem={problems['']} />
        <PasswordInput label="Current password" autoComplete="current-password" {...field('current')} />
        <PasswordInput
          label="New password"
          description="12 to 128 characters."
          autoComplete="new-password"
          {...field('password')}
        />
        <PasswordInput label="New password again" autoComplete="new-password" {...field('repeated')} />
        <Button type="submit" loading={pending} w="fit-content">
          Change password
        </Button>
      </Stack>
    </form>
  );
}
