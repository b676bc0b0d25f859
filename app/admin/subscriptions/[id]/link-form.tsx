'use client';

import { NativeSelect, Stack, TextInput } from '@mantine/core';
import { useActionState } from 'react';
import { FormFooter } from '../../_components/forms/form';
import type { LinkState } from '../actions';

interface Props {
  action(before: LinkState, form: FormData): Promise<LinkState>;
  /** Null where there are too many to list: the number is typed then. */
  choices: { value: string; label: string }[] | null;
  /** The number of the service that the item pays for. */
  current: string;
  cancel: string;
}

/** The choice of the service that an item pays for. */
export function LinkForm({ action, choices, current, cancel }: Props) {
  const [state, submit, pending] = useActionState(action, { problem: null });
  const field = {
    name: 'service_number',
    label: 'Service',
    defaultValue: current,
    error: state.problem,
    autoFocus: true,
  };
  return (
    <form action={submit}>
      <Stack gap="sm" mt="md" maw={480}>
        {choices ? (
          <NativeSelect {...field} data={[{ value: '', label: 'None' }, ...choices]} />
        ) : (
          <TextInput {...field} description="Service number. Leave empty to unlink." />
        )}
        <FormFooter submit="Save" cancel={cancel} pending={pending} size="xs" />
      </Stack>
    </form>
  );
}
