'use client';

import { TextInput } from '@mantine/core';
import { TypedForm, type TypedState } from '../../typed-form';

interface Props {
  action(before: TypedState, form: FormData): Promise<TypedState>;
  cancel: string;
  currency: string;
  initial: Record<string, string>;
}

export function RefundForm({ currency, initial, ...form }: Props) {
  return (
    <TypedForm<TypedState>
      label="Refund"
      submit="Record refund"
      first={{ typed: initial, problems: {} }}
      {...form}
    >
      {(field) => (
        <>
          <TextInput
            label={`Amount in ${currency.toUpperCase()}`}
            description="After a partial refund, the payment stays completed with the remaining amount."
            inputMode="decimal"
            autoComplete="off"
            {...field('amount')}
          />
          <TextInput label="Refunded on" type="date" {...field('date')} />
        </>
      )}
    </TypedForm>
  );
}
