'use client';

import { Box, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import type {
  PublicKeyCredentialCreationOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/browser';
import { useState } from 'react';
import { PasswordGate } from './password-gate';

interface Props {
  passkeys: {
    id: string;
    name: string;
    added: string;
    remove(password: string): Promise<{ problem: string }>;
  }[];
  start(password: string): Promise<{ problem: string } | { options: PublicKeyCredentialCreationOptionsJSON }>;
  store(name: string, response: RegistrationResponseJSON): Promise<{ problem: string }>;
}

/** A person's passkeys, and another one. */
export function Passkeys({ passkeys, start, store }: Props) {
  const [isAdding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<string>();
  return (
    <Stack gap="md" p="md">
      <Text size="sm" c="dimmed">
        A passkey signs you in with your fingerprint, face or PIN, without a password or a code.
      </Text>
      {passkeys.map(({ id, name, added, remove }) => (
        <Stack key={id} gap="sm">
          <Group justify="space-between" gap="xs">
            <Box miw={0}>
              <Text size="sm" fw={500} className="break-anywhere">
                {name}
              </Text>
              <Text size="xs" c="dimmed">
                Added {added}
              </Text>
            </Box>
            {removed !== id && (
              <Button variant="default" aria-label={`Remove ${name}`} onClick={() => setRemoved(id)}>
                Remove
              </Button>
            )}
          </Group>
          {removed === id && (
            <PasswordGate
              label={`Remove ${name}`}
              submit="Remove passkey"
              color="red.9"
              ask={async (password) => (await remove(password))?.problem}
            >
              <Text size="sm">It will no longer sign you in here. Delete it on your device too.</Text>
            </PasswordGate>
          )}
        </Stack>
      ))}
      {isAdding ? (
        <PasswordGate
          label="Add a passkey"
          submit="Add passkey"
          ask={async (password, form) => {
            const begun = await start(password);
            if ('problem' in begun) return begun.problem;
            const { makePasskey } = await import('./make-passkey'); // few who look at the page add one
            const made = await makePasskey(begun.options);
            if ('problem' in made) return made.problem;
            const kept = await store(String(form.get('name') ?? ''), made.response);
            setAdding(false);
            return kept?.problem;
          }}
        >
          <TextInput
            label="Name"
            description="Where it is kept, such as “Work laptop”."
            name="name"
            maxLength={60}
            required
            withAsterisk={false}
            autoFocus
          />
        </PasswordGate>
      ) : (
        <Button variant="default" w="fit-content" onClick={() => setAdding(true)}>
          Add a passkey
        </Button>
      )}
    </Stack>
  );
}
