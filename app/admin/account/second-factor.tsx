'use client';

import { Box, Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import type {
  PublicKeyCredentialCreationOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/browser';
import dynamic from 'next/dynamic';
import { type ReactNode, useState, useTransition } from 'react';
import { LinkButton } from '@/app/_components/links';
import type { BegunTwoFactor } from './actions';

const RecoveryCodes = dynamic(() => import('./new-factor').then((part) => part.RecoveryCodes));

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

// Most who open the page set nothing up.
const AppPicture = dynamic(() => import('./new-factor').then((part) => part.AppPicture));

interface SetUpProps {
  begin(password: string): Promise<{ problem: string } | BegunTwoFactor>;
  confirm(code: string): Promise<{ problem: string | null }>;
  /** Where to go on to. */
  then: string;
}

/** Sets an authenticator app up: the password, the picture and its code, the recovery codes. */
export function AppSetUp({ begin, confirm, then }: SetUpProps) {
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

interface PasskeysProps {
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
export function Passkeys({ passkeys, start, store }: PasskeysProps) {
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

interface GateProps {
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
function PasswordGate({ label, submit, color, children, ask }: GateProps) {
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
