'use client';

import { Button, Group, Stack, Text } from '@mantine/core';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import { PasswordGate } from './password-gate';

const RecoveryCodes = dynamic(() => import('./recovery-codes').then((part) => part.RecoveryCodes));

interface Props {
  /** An app is demanded of everybody. */
  isRequired: boolean;
  renew(password: string): Promise<{ problem: string } | { recoveryCodes: string[] }>;
  turnOff(password: string): Promise<{ problem: string }>;
}

/** The actions of an account with an authenticator app. */
export function TwoFactor({ isRequired, renew, turnOff }: Props) {
  const [wanted, setWanted] = useState<'codes' | 'off'>();
  const [codes, setCodes] = useState<string[]>();
  if (codes) {
    return (
      <RecoveryCodes title="You have new recovery codes. The old ones no longer work." codes={codes}>
        <Button onClick={() => setCodes(undefined)}>I have saved them</Button>
      </RecoveryCodes>
    );
  }
  return (
    <Stack gap="md">
      <Text size="sm">
        On. You enter a code from your authenticator app when you sign in with your password.
      </Text>
      {wanted === undefined && (
        <Group gap="xs">
          <Button variant="default" onClick={() => setWanted('codes')}>
            New recovery codes
          </Button>
          {!isRequired && (
            <Button variant="default" onClick={() => setWanted('off')}>
              Turn off
            </Button>
          )}
        </Group>
      )}
      {wanted === 'codes' && (
        <PasswordGate
          label="New recovery codes"
          submit="Create new codes"
          ask={async (password) => {
            const answer = await renew(password);
            if ('problem' in answer) return answer.problem;
            setWanted(undefined);
            setCodes(answer.recoveryCodes);
          }}
        />
      )}
      {wanted === 'off' && (
        <PasswordGate
          label="Turn off two-factor authentication"
          submit="Turn off"
          color="red.9"
          ask={async (password) => (await turnOff(password))?.problem}
        />
      )}
      {isRequired && (
        <Text size="sm" c="dimmed">
          Everyone here must use an authenticator app, so it cannot be turned off.
        </Text>
      )}
    </Stack>
  );
}
