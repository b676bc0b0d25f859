'use client';

import { Button, Checkbox, Stack, Textarea, TextInput } from '@mantine/core';
import { useActionState } from 'react';
import { ProblemAlert } from '../../../_components/problem-alert';
import { useFirstWrong } from '../../_components/forms/form';
import { Secret } from '../../_components/forms/secret';
import type { ClientState } from '../actions';

interface Props {
  action(before: ClientState, form: FormData): Promise<ClientState>;
}

const FIRST: ClientState = { typed: { name: '', redirects: '', hasSecret: true }, problems: {}, made: null };

export function AddForm({ action }: Props) {
  const [{ typed, problems, made }, submit, pending] = useActionState(action, FIRST);
  const form = useFirstWrong(problems);
  if (made) {
    const secret = made.clientSecret ? `\nClient secret: ${made.clientSecret}` : '';
    return (
      <Secret
        title={`The client ${made.name} is registered.`}
        name="credentials"
        text={`Client ID: ${made.clientId}${secret}`}
        advice="Enter it in the client’s settings."
        done="/admin/tokens/clients"
      />
    );
  }
  return (
    <form action={submit} ref={form} aria-label="OAuth client">
      <Stack gap="md" p="md" maw={640}>
        <ProblemAlert problem={problems['']} />
        <TextInput
          label="Name"
          name="name"
          description="Staff see it when they are asked for consent."
          defaultValue={typed.name}
          error={problems.name}
          maxLength={100}
          autoComplete="off"
          required
          withAsterisk={false}
        />
        <Textarea
          label="Redirect addresses"
          name="redirects"
          description="As shown in the client’s settings, one per line."
          defaultValue={typed.redirects}
          error={problems.redirects}
          rows={3}
          required
          withAsterisk={false}
        />
        <Checkbox
          name="hasSecret"
          label="Uses a client secret"
          description="For a service such as Copilot Studio, not for a program that people install."
          defaultChecked={typed.hasSecret}
        />
        <Button type="submit" loading={pending} w="fit-content">
          Register client
        </Button>
      </Stack>
    </form>
  );
}
