'use client';

import { Alert, Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useActionState } from 'react';
import { signIn } from './actions';

export function SignInForm({ next }: { next: string }) {
  const [state, action, pending] = useActionState(signIn, { email: '', problem: null });
  return (
    <form action={action}>
      <Stack gap="md">
        {state.problem && (
          <Alert color="red" variant="light" role="alert">
            {state.problem}
          </Alert>
        )}
        <input type="hidden" name="next" value={next} />
        <TextInput
          label="E-mail"
          name="email"
          type="email"
          autoComplete="username"
          defaultValue={state.email}
          required
          withAsterisk={false}
          autoFocus
        />
        <PasswordInput
          label="Password"
          name="password"
          autoComplete="current-password"
          required
          withAsterisk={false}
        />
        <Button type="submit" loading={pending} fullWidth mt="xs">
          Sign in
        </Button>
      </Stack>
    </form>
  );
}
