'use client';

import { Button, Group, Paper, Stack, TextInput } from '@mantine/core';
import { useActionState, useEffect, useRef } from 'react';
import { LinkButton } from '../../../../_components/links';
import type { EraseState } from './actions';

interface Props {
  action(before: EraseState, form: FormData): Promise<EraseState>;
  /** What has to be typed. */
  number: string;
  /** The customer's page. */
  back: string;
}

/** Takes the customer's number for a yes. */
export function EraseForm({ action, number, back }: Props) {
  const [state, submit, pending] = useActionState(action, { typed: '', problem: null });
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (state.problem) field.current?.focus();
  }, [state]);
  return (
    <form action={submit} aria-label="Erase">
      <Paper withBorder radius="lg" p="lg">
        <Stack gap="lg">
          <TextInput
            ref={field}
            key={state.typed}
            name="customer_number"
            label="Customer number"
            description={`Type ${number} to confirm.`}
            defaultValue={state.typed}
            error={state.problem ?? undefined}
            autoComplete="off"
            required
          />
          <Group gap="xs">
            <Button type="submit" color="red.9" loading={pending}>
              Erase customer
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
