'use client';

import { Button, PasswordInput, Stack } from '@mantine/core';
import { type ReactNode, useState, useTransition } from 'react';

interface Props {
  /** What the form is called, and its button. */
  label: string;
  submit: string;
  color?: string;
  /** Other fields, above the password. */
  children?: ReactNode;
  /** @returns what is wrong; nothing where all went well */
  ask(password: string, form: FormData): Promise<string | undefined>;
}

/** Asks for one's own password before something is done. */
export function PasswordGate({ label, submit, color, children, ask }: Props) {
  const [problem, setProblem] = useState<string>();
  const [isPending, start] = useTransition();
  const send = (form: FormData) =>
    start(async () => setProblem(await ask(String(form.get('password') ?? ''), form)));
  return (
    <form
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault(); // an action would empty what was typed
        send(new FormData(event.currentTarget));
      }}
    >
      <Stack gap="md" maw={400}>
        {children}
        <PasswordInput
          label="Your password"
          name="password"
          autoComplete="current-password"
          maxLength={128}
          required
          withAsterisk={false}
          error={problem}
        />
        <Button type="submit" loading={isPending} w="fit-content" {...(color && { color })}>
          {submit}
        </Button>
      </Stack>
    </form>
  );
}
