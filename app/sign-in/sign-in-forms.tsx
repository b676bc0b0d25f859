'use client';

import { Button, Divider } from '@mantine/core';
import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser';
import { IconFingerprint } from '@tabler/icons-react';
import type { ComponentProps } from 'react';
import { LinkButton } from '../_components/links';
import type { FormField } from '../admin/_components/forms/field';
import { ActionForm, type FormState } from '../admin/_components/forms/form';

interface Props {
  /** Where signing in leads to. */
  next: string;
  /** The answer to a form that was sent without scripts. */
  problem: string | null;
}

const LOGIN: FormField[] = [
  {
    name: 'email',
    label: 'E-mail',
    type: 'email',
    autoComplete: 'username',
    required: true,
    autoFocus: true,
  },
  {
    name: 'password',
    label: 'Password',
    kind: 'password',
    autoComplete: 'current-password',
    required: true,
  },
];

export function SignInForm(props: Props) {
  return (
    <DoorForm
      {...props}
      door="email"
      action={(_before, form) => (form.has('passkey') ? enterByPasskey(props.next) : enterBy('email', form))}
      fields={LOGIN}
      submit="Sign in"
      below={(send, isPending) => (
        <>
          <Divider label="or" labelPosition="center" />
          <Button
            variant="default"
            fullWidth
            disabled={isPending}
            onClick={() => {
              const form = new FormData();
              form.set('passkey', 'on');
              send(form);
            }}
            leftSection={<IconFingerprint size={18} stroke={1.6} aria-hidden />}
          >
            Use a passkey
          </Button>
        </>
      )}
    />
  );
}

const CODE: FormField = {
  name: 'code',
  label: 'Code',
  description: 'Six digits from your authenticator app, or a recovery code.',
  autoComplete: 'one-time-code',
  autoCapitalize: 'none',
  spellCheck: false,
  maxLength: 40,
  required: true,
  autoFocus: true,
};

export function CodeForm(props: Props) {
  return (
    <DoorForm
      {...props}
      door="code"
      action={(_before, form) => enterBy('code', form)}
      fields={[CODE]}
      submit="Continue"
      below={() => (
        <LinkButton href="/sign-in" variant="subtle" fullWidth>
          Start again
        </LinkButton>
      )}
    />
  );
}

/** A form that a door answers, also without scripts. */
function DoorForm({
  next,
  door,
  ...form
}: ComponentProps<typeof ActionForm> & { next: string; door: string }) {
  return (
    <ActionForm {...form} post={doorPath(door)} stays button={{ fullWidth: true, mt: 'xs' }}>
      <input type="hidden" name="next" value={next} />
    </ActionForm>
  );
}

/** What a door of the sign-in answers a script: what it says, or the sentence of a problem. */
type Answer<T> = T | { problem: string };

/** Where the form of a door is sent without scripts. */
const doorPath = (door: string) => `/api/auth/sign-in/${door}`;

/** Sends typed values to a door, which leads on or says what is wrong. */
const enterBy = (door: string, form: FormData): Promise<FormState> =>
  leadOn(sendToDoor<{ next: string }>(door, Object.fromEntries(form)));

/** Lets the browser ask for a passkey, and signs in with it. */
const enterByPasskey = (next: string): Promise<FormState> => leadOn(askForPasskey(next));

async function leadOn(asked: Promise<Answer<{ next: string }>>): Promise<FormState> {
  const answer = await asked;
  if ('problem' in answer) return { typed: {}, problems: { '': answer.problem } };
  window.location.assign(answer.next);
  return new Promise(() => {}); // the form stays busy until the next page is there
}

async function sendToDoor<T>(door: string, given: object): Promise<Answer<T>> {
  try {
    const answer = await fetch(doorPath(door), {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify(given),
    });
    const said: T & { detail: string } = await answer.json();
    return answer.ok ? said : { problem: said.detail };
  } catch {
    return { problem: 'The server does not answer. Try again in a moment.' };
  }
}

async function askForPasskey(next: string): Promise<Answer<{ next: string }>> {
  // Few who sign in use one.
  const { browserSupportsWebAuthn, startAuthentication } = await import('@simplewebauthn/browser');
  if (!browserSupportsWebAuthn())
    return { problem: 'This browser does not support passkeys. Sign in with your password.' };
  const begun = await sendToDoor<{ options: PublicKeyCredentialRequestOptionsJSON }>('passkey/options', {});
  if ('problem' in begun) return begun;
  try {
    const response = await startAuthentication({ optionsJSON: begun.options });
    return await sendToDoor<{ next: string }>('passkey', { response, next });
  } catch {
    // The browser does not reveal whether no passkey exists or the person cancelled.
    return { problem: 'No passkey was used. Try again, or sign in with your password.' };
  }
}
