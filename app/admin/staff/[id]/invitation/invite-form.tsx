'use client';

import { Stack } from '@mantine/core';
import { useActionState } from 'react';
import { ProblemAlert } from '../../../../_components/problem-alert';
import { FormFooter } from '../../../_components/forms/form-footer';
import { InvitationLink } from '../../invitation-link';
import type { InvitationState } from './actions';

interface Props {
  action(): Promise<InvitationState>;
  /** The person's page. */
  back: string;
}

export function InviteForm({ action, back }: Props) {
  const [{ problem, invitation }, submit, pending] = useActionState(action, {
    problem: null,
    invitation: null,
  });
  if (invitation) return <InvitationLink {...invitation} done={back} />;
  return (
    <form action={submit} aria-label="Invitation">
      <Stack gap="lg">
        <ProblemAlert problem={problem} />
        <FormFooter submit="Create invitation link" cancel={back} pending={pending} />
      </Stack>
    </form>
  );
}
