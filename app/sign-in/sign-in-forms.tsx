'use client';

import { Button, Divider } from '@mantine/core';
import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser';
import { IconFingerprint } from '@tabler/icons-react';
import type { ComponentProps } from 'react';
import { LinkButton } from '../_components/links';
import type { FormField } from '../admin/_components/forms/field';
import { ActionForm, type FormState } from '../admin/_components/forms/form';

interface Props {
  /** Path of the page that opens after the sign-in. */
  next: string;
  /** Error message for a form that was submitted without JavaScript. Null if there is no error. */
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
    <EndpointForm
      {...props}
      endpoint="email"
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
    <EndpointForm
      {...props}
      endpoint="code"
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

/** Shows a form that posts to one of the sign-in endpoints. It also works without JavaScript. */
function EndpointForm({
  next,
  endpoint,
  ...form
}: ComponentProps<typeof ActionForm> & { next: string; endpoint: string }) {
  return (
    <ActionForm {...form} post={endpointPath(endpoint)} stays button={{ fullWidth: true, mt: 'xs' }}>
      <input type="hidden" name="next" value={next} />
    </ActionForm>
  );
}

/** Result of a request to a sign-in endpoint: the body of the response, or an error message. */
type Answer<T> = T | { problem: string };

const endpointPath = (endpoint: string) => `/api/auth/sign-in/${endpoint}`;

/** Sends the typed values to a sign-in endpoint. Opens the next page, or returns the error message. */
const enterBy = (endpoint: string, form: FormData): Promise<FormState> =>
  leadOn(sendToEndpoint<{ next: string }>(endpoint, Object.fromEntries(form)));

const enterByPasskey = (next: string): Promise<FormState> => leadOn(askForPasskey(next));

async function leadOn(asked: Promise<Answer<{ next: string }>>): Promise<FormState> {
  const answer = await asked;
  if ('problem' in answer) return { typed: {}, problems: { '': answer.problem } };
  window.location.assign(answer.next);
  return new Promise(() => {}); // Never resolve, so that the form stays busy until the next page has loaded.
}

async function sendToEndpoint<T>(endpoint: string, given: object): Promise<Answer<T>> {
  try {
    const answer = await fetch(endpointPath(endpoint), {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify(given),
    });
    const body: T & { detail: string } = await answer.json();
    return answer.ok ? body : { problem: body.detail };
  } catch {
    return { problem: 'The server does not answer. Try again in a moment.' };
  }
}

async function askForPasskey(next: string): Promise<Answer<{ next: string }>> {
  // Loaded on demand, because few people use a passkey.
  const { browserSupportsWebAuthn, startAuthentication } = await import('@simplewebauthn/browser');
  if (!browserSupportsWebAuthn())
    return { problem: 'This browser does not support passkeys. Sign in with your password.' };
  const begun = await sendToEndpoint<{ options: PublicKeyCredentialRequestOptionsJSON }>(
    'passkey/options',
    {},
  );
  if ('problem' in begun) return begun;
  try {
    const response = await startAuthentication({ optionsJSON: begun.options });
    return await sendToEndpoint<{ next: string }>('passkey', { response, next });
  } catch {
    // The browser does not reveal whether there was no passkey or the person cancelled.
    return { problem: 'No passkey was used. Try again, or sign in with your password.' };
  }
}
