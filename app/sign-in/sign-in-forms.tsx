'use client';

import { Button, Divider, PasswordInput, Stack, TextInput } from '@mantine/core';
import { IconFingerprint } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { LinkButton } from '../_components/links';
import { ProblemAlert } from '../_components/problem-alert';
import { type Door, useDoor } from './door';

interface FormProps {
  next: string;
  /** The answer to a form that was sent without scripts. */
  problem: string | null;
}

export function SignInForm({ next, problem }: FormProps) {
  const door = useDoor('email', problem);
  return (
    <DoorForm door={door} next={next} submit="Sign in" otherWays={<Passkey door={door} next={next} />}>
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
    </DoorForm>
  );
}

function Passkey({ door: { isPending, go }, next }: { door: Door; next: string }) {
  return (
    <>
      <Divider label="or" labelPosition="center" />
      <Button
        variant="default"
        fullWidth
        disabled={isPending}
        onClick={() => go(async () => (await import('./ask-for-passkey')).askForPasskey(next))}
        leftSection={<IconFingerprint size={18} stroke={1.6} aria-hidden />}
      >
        Use a passkey
      </Button>
    </>
  );
}

export function CodeForm({ next, problem }: FormProps) {
  const again = (
    <LinkButton href="/sign-in" variant="subtle" fullWidth>
      Start again
    </LinkButton>
  );
  return (
    <DoorForm door={useDoor('code', problem)} next={next} submit="Continue" otherWays={again}>
      <TextInput
        label="Code"
        description="Six digits from your authenticator app, or a recovery code."
        name="code"
        autoComplete="one-time-code"
        autoCapitalize="none"
        spellCheck={false}
        maxLength={40}
        required
        withAsterisk={false}
        autoFocus
      />
    </DoorForm>
  );
}

interface Props {
  door: Door;
  /** Where it leads. */
  next: string;
  submit: string;
  children: ReactNode;
  /** Other ways, below the button. */
  otherWays: ReactNode;
}

/** The typed values of a sign-in form. */
function DoorForm({ door: { form, problem, isPending }, next, submit, children, otherWays }: Props) {
  return (
    <form {...form}>
      <Stack gap="md">
        <ProblemAlert problem={problem} />
        <input type="hidden" name="next" value={next} />
        {children}
        <Button type="submit" loading={isPending} fullWidth mt="xs">
          {submit}
        </Button>
        {otherWays}
      </Stack>
    </form>
  );
}
