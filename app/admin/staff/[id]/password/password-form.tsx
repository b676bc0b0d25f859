'use client';

import { Button, Group, Paper, Stack } from '@mantine/core';
import { useActionState } from 'react';
import { LinkButton } from '../../../../_components/links';
import { Secret } from '../../../_components/secret';
import { PasswordField } from '../../password-field';
import type { PasswordState } from './actions';

interface Props {
  action(before: PasswordState, form: FormData): Promise<PasswordState>;
  /** The person's page. */
  back: string;
}

export function PasswordForm({ action, back }: Props) {
  const [{ problem, reset }, submit, pending] = useActionState(action, { problem: null, reset: null });
  if (reset) {
    return (
      <Secret
        title={`${reset.email} has a new password and is signed out.`}
        name="password"
        text={reset.password}
        advice="Give it to the person over a way that you trust."
      >
        <LinkButton href={back} variant="default">
          Done
        </LinkButton>
      </Secret>
    );
  }
  return (
    <form action={submit} aria-label="Password">
      <Paper withBorder radius="lg" p="lg">
        <Stack gap="lg">
          <PasswordField error={problem ?? undefined} />
          <Group gap="xs">
            <Button type="submit" loading={pending}>
              Reset password
            </Button>
            <LinkButton href={back} variant="subtle">
              Cancel
            </LinkButton>
          </Group>
        </Stack>
      </Paper>
    </form>
  );
}
