'use client';

import { TextInput } from '@mantine/core';
import { LinkButton } from '../../_components/links';
import { DoorForm } from '../door-form';
import { useDoor } from '../use-door';

interface Props {
  next: string;
  /** What came of a form that was sent without scripts. */
  problem: string | null;
}

export function CodeForm({ next, problem }: Props) {
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
