'use client';

import { Alert, Button, Group, Paper, Stack, TextInput } from '@mantine/core';
import { useActionState } from 'react';
import { LinkButton, TextLink } from '../../../_components/links';
import { useFirstWrong } from '../../_components/use-first-wrong';
import { PATH } from '../path';
import type { RecordState } from './actions';

interface Props {
  action(before: RecordState, form: FormData): Promise<RecordState>;
  /** ISO 4217, in capitals. */
  currency: string;
  initial: Record<string, string>;
}

export function RecordForm({ action, currency, initial }: Props) {
  const [state, submit, pending] = useActionState(action, { typed: initial, problems: {}, existing: null });
  const form = useFirstWrong(state);

  const field = (name: string) => ({
    name,
    defaultValue: state.typed[name],
    error: state.problems[name],
    required: true,
    withAsterisk: false,
  });
  const { existing } = state;
  return (
    <form action={submit} ref={form} aria-label="Payment">
      <Paper withBorder radius="lg" p="lg">
        <Stack gap="md">
          {state.problems[''] && (
            <Alert color="red" variant="light" role="alert">
              {state.problems['']}
            </Alert>
          )}
          <TextInput
            label={`Amount in ${currency}`}
            inputMode="decimal"
            autoComplete="off"
            {...field('amount')}
          />
          <TextInput label="Date" type="date" {...field('payment_date')} />
          <TextInput
            label="Reference"
            description="What the bank statement or the receipt says. Each payment has its own."
            maxLength={255}
            autoComplete="off"
            {...field('payment_reference')}
            {...(existing && {
              error: (
                <>
                  Another payment has this reference:{' '}
                  <TextLink href={existing.href} size="xs">
                    {existing.text}
                  </TextLink>
                </>
              ),
            })}
          />
          <Group gap="xs">
            <Button type="submit" loading={pending}>
              Record payment
            </Button>
            <LinkButton href={PATH} variant="subtle">
              Cancel
            </LinkButton>
          </Group>
        </Stack>
      </Paper>
    </form>
  );
}
