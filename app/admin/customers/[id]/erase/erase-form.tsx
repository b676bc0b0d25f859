'use client';

import { TextInput } from '@mantine/core';
import { useActionState, useEffect, useRef } from 'react';
import { SheetForm } from '../../../_components/forms/sheet-form';
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
    <SheetForm
      label="Erase"
      action={submit}
      submit="Erase customer"
      cancel={back}
      pending={pending}
      color="red.9"
    >
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
    </SheetForm>
  );
}
