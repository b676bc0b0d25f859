'use client';

import { Alert, Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';

const DOOR = '/api/auth/sign-in/email';

interface Props {
  next: string;
  /** What came of a form that was sent without scripts. */
  problem: string | null;
}

export function SignInForm({ next, problem: earlier }: Props) {
  const [problem, setProblem] = useState(earlier);
  const [isPending, setPending] = useState(false);

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setPending(true);
    setProblem(null);
    const answer = await send(new FormData(event.currentTarget));
    if ('next' in answer) return window.location.assign(answer.next);
    setProblem(answer.problem);
    setPending(false);
  };

  return (
    <form action={DOOR} method="post" onSubmit={submit}>
      <Stack gap="md">
        {problem && (
          <Alert color="red" variant="light" role="alert">
            {problem}
          </Alert>
        )}
        <input type="hidden" name="next" value={next} />
        <TextInput
          label="E-mail"
          name="email"
          type="email"
          autoComplete="username"
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
        <Button type="submit" loading={isPending} fullWidth mt="xs">
          Sign in
        </Button>
      </Stack>
    </form>
  );
}

async function send(form: FormData): Promise<{ next: string } | { problem: string }> {
  try {
    const answer = await fetch(DOOR, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify(Object.fromEntries(form)),
    });
    const said: { next: string; detail: string } = await answer.json();
    return answer.ok ? { next: said.next } : { problem: said.detail };
  } catch {
    return { problem: 'The server does not answer. Try again in a moment.' };
  }
}
