'use client';

import { Button, Divider, PasswordInput, TextInput } from '@mantine/core';
import { IconFingerprint } from '@tabler/icons-react';
import { DoorForm } from './door-form';
import { type Door, useDoor } from './use-door';

interface Props {
  next: string;
  /** What came of a form that was sent without scripts. */
  problem: string | null;
}

export function SignInForm({ next, problem }: Props) {
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
