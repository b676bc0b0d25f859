'use client';

import { Box, Button, Code, Group, Stack, Text } from '@mantine/core';
import dynamic from 'next/dynamic';
import { type ReactNode, useState } from 'react';
import { LinkButton } from '../../_components/links';
import type { FormField } from '../_components/forms/field';
import { ActionForm } from '../_components/forms/form';
import {
  type BegunTwoFactor,
  beginApp,
  confirmApp,
  removePasskey,
  renewCodes,
  startPasskey,
  storePasskey,
  turnOffApp,
} from './actions';

const RecoveryCodes = dynamic(() => import('../_components/forms/secret').then((part) => part.RecoveryCodes));

/**
 * Shows the actions for the person's authenticator app.
 *
 * @param isRequired whether all staff must use an authenticator app
 */
export function TwoFactor({ isRequired }: { isRequired: boolean }) {
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
            const answer = await renewCodes(password);
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
          ask={async (password) => (await turnOffApp(password))?.problem}
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

/** Shows the steps to set up an authenticator app. @param then path of the page to open afterwards */
export function AppSetUp({ then }: { then: string }) {
  const [begun, setBegun] = useState<BegunTwoFactor>();
  const [isDone, setDone] = useState(false);
  if (begun && isDone) {
    return (
      <RecoveryCodes title="Two-factor authentication is on." codes={begun.recoveryCodes}>
        <LinkButton href={then}>I have saved them</LinkButton>
      </RecoveryCodes>
    );
  }
  if (begun) return <AppPicture begun={begun} onDone={() => setDone(true)} />;
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
          const answer = await beginApp(password);
          if ('problem' in answer) return answer.problem;
          setBegun(answer);
        }}
      />
    </>
  );
}

const CODE: FormField = {
  name: 'code',
  label: 'Code from the app',
  inputMode: 'numeric',
  autoComplete: 'one-time-code',
  maxLength: 10,
  required: true,
  autoFocus: true,
};

/** Shows the QR code that the app scans, and the field for the code that the app then shows. */
function AppPicture({ begun: { picture, key }, onDone }: { begun: BegunTwoFactor; onDone(): void }) {
  return (
    <AskingForm
      label="Confirm the authenticator app"
      field={CODE}
      submit="Turn on"
      ask={async (code) => {
        const { problem } = await confirmApp(code);
        if (problem !== null) return problem;
        onDone();
      }}
    >
      <Text size="sm">Scan this with your authenticator app.</Text>
      <svg
        viewBox={`0 0 ${picture.size} ${picture.size}`}
        width={200}
        height={200}
        role="img"
        aria-label="QR code for the authenticator app"
        shapeRendering="crispEdges"
      >
        <rect width={picture.size} height={picture.size} fill="#fff" />
        <path d={picture.path} fill="#000" />
      </svg>
      <Text size="sm">
        Or enter this key: <Code className="break-anywhere">{key}</Code>
      </Text>
    </AskingForm>
  );
}

const PASSKEY_NAME: FormField = {
  name: 'name',
  label: 'Name',
  description: 'Where it is kept, such as “Work laptop”.',
  maxLength: 60,
  required: true,
  autoFocus: true,
};

/** Lists a person's passkeys, with buttons to add and remove one. */
export function Passkeys({ passkeys }: { passkeys: { id: string; name: string; added: string }[] }) {
  const [isAdding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<string>();
  return (
    <Stack gap="md" p="md">
      <Text size="sm" c="dimmed">
        A passkey signs you in with your fingerprint, face or PIN, without a password or a code.
      </Text>
      {passkeys.map(({ id, name, added }) => (
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
              ask={async (password) => (await removePasskey(id, password))?.problem}
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
          first={PASSKEY_NAME}
          ask={async (password, form) => {
            const name = String(form.get('name') ?? '');
            const begun = await startPasskey(name, password);
            if ('problem' in begun) return begun.problem;
            // Load the module on demand, because few people add a passkey.
            const { makePasskey } = await import('./make-passkey');
            const made = await makePasskey(begun.options);
            if ('problem' in made) return made.problem;
            return (await storePasskey(name, made.response))?.problem;
          }}
        />
      ) : (
        <Button variant="default" w="fit-content" onClick={() => setAdding(true)}>
          Add a passkey
        </Button>
      )}
    </Stack>
  );
}

const PASSWORD: FormField = {
  name: 'password',
  label: 'Your password',
  kind: 'password',
  autoComplete: 'current-password',
  maxLength: 128,
  required: true,
};

/** Shows a form that asks the signed-in person for the password before an action. */
function PasswordGate(props: Omit<AskingFormProps, 'field'>) {
  return <AskingForm field={PASSWORD} {...props} />;
}

interface AskingFormProps {
  label: string;
  /** The field whose value `ask` processes. */
  field: FormField;
  /** An additional field above `field`. */
  first?: FormField;
  submit: string;
  color?: string;
  /** Content above the fields. */
  children?: ReactNode;
  /** Processes the value of `field`. @returns the error message for `field`, or undefined after success */
  ask(typed: string, form: FormData): Promise<string | undefined>;
}

/** Shows a form whose fields keep the typed values after an error. */
function AskingForm({ label, field, first, submit, color, children, ask }: AskingFormProps) {
  return (
    <ActionForm
      label={label}
      stays
      action={async (_before, form) => {
        const problem = await ask(String(form.get(field.name) ?? ''), form);
        return { typed: {}, problems: problem ? { [field.name]: problem } : {} };
      }}
      fields={first ? [first, field] : [field]}
      submit={submit}
      stack={{ maw: 400 }}
      button={{ w: 'fit-content', ...(color && { color }) }}
    >
      {children}
    </ActionForm>
  );
}
