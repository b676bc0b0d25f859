'use client';

import { ExistingPayment } from './existing-payment';
import { PaymentFields } from './payment-fields';
import type { PaymentState } from './refusal-state';
import { TypedForm } from './typed-form';

interface Props {
  action(before: PaymentState, form: FormData): Promise<PaymentState>;
  submit: string;
  cancel: string;
  currency: string;
  open: number | null;
  initial: Record<string, string>;
}

/** Records a payment, or changes one. */
export function PaymentForm({ currency, open, initial, ...form }: Props) {
  return (
    <TypedForm<PaymentState>
      label="Payment"
      first={{ typed: initial, problems: {}, existing: null }}
      {...form}
    >
      {(field, { typed, existing }) => (
        <PaymentFields
          field={field}
          currency={currency}
          open={open}
          first={typed.amount}
          isCorrection={initial.invoice !== undefined}
          {...(existing && { referenceError: <ExistingPayment existing={existing} /> })}
        />
      )}
    </TypedForm>
  );
}
