'use client';

import { Text } from '@mantine/core';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import { LinkButton } from '../../_components/links';
import type { BegunTwoFactor } from './actions';
import { PasswordGate } from './password-gate';

// Most who open the page set nothing up.
const AppPicture = dynamic(() => import('./app-picture').then((part) => part.AppPicture));
const RecoveryCodes = dynamic(() => import('./recovery-codes').then((part) => part.RecoveryCodes));

interface Props {
  begin(password: string): Promise<{ problem: string } | BegunTwoFactor>;
  confirm(code: string): Promise<{ problem: string | null }>;
  /** Where to go on to. */
  then: string;
}

/** Sets an authenticator app up: the password, the picture and its code, the recovery codes. */
export function AppSetUp({ begin, confirm, then }: Props) {
  const [begun, setBegun] = useState<BegunTwoFactor>();
  const [isDone, setDone] = useState(false);
  if (begun && isDone) {
    return (
      <RecoveryCodes title="Two-factor authentication is on." codes={begun.recoveryCodes}>
        <LinkButton href={then}>I have saved them</LinkButton>
      </RecoveryCodes>
    );
  }
  if (begun) return <AppPicture begun={begun} confirm={confirm} onDone={() => setDone(true)} />;
  return (
    <>
      <Text size="sm" c="dimmed" mb="md">
        When you sign in, you enter a code from an app on your phone after your password. Any authenticator
        app works.
      </Text>
      <PasswordGate
        label="Set up two-factor authentication"
        submit="Set up authenticator app"
        ask={async (password) => {
          const answer = await begin(password);
          if ('problem' in answer) return answer.problem;
          setBegun(answer);
        }}
      />
    </>
  );
}
