'use client';

import { Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { typedAmount } from '@/lib/typed-amount';
import { formatMoney } from '../../_components/format';
import type { FieldProps } from './typed-form';

interface Props {
  field: FieldProps;
  currency: string;
  /** What the invoice has open without this payment; null where a payment settles nothing. */
  open: number | null;
  first: string | undefined;
  /** The payment was recorded already, and may stand at the wrong invoice. */
  isCorrection: boolean;
  /** What is wrong with the reference, with its link. */
  referenceError?: ReactNode;
}

/** Amount, date and reference of a payment. */
export function PaymentFields({ field, currency, open, first, isCorrection, referenceError }: Props) {
  const [amount, setAmount] = useState(first ?? '');
  const over = open === null ? 0 : Number(typedAmount(amount) ?? 0) - open;
  return (
    <>
      {isCorrection && (
        <TextInput
          label="Invoice"
          description="Its number. The payment moves to this invoice and its customer."
          autoComplete="off"
          {...field('invoice')}
        />
      )}
      <TextInput
        label={`Amount in ${currency.toUpperCase()}`}
        inputMode="decimal"
        autoComplete="off"
        {...field('amount')}
        onChange={(event) => setAmount(event.currentTarget.value)}
      />
      <Text size="sm" role="status" hidden={!(over > 0)}>
        {over > 0 &&
          `${formatMoney(over, currency)} more than the balance due. It is kept as a credit on the invoice.`}
      </Text>
      <TextInput label="Date" type="date" {...field('payment_date')} />
      <TextInput
        label="Reference"
        description="As on the bank statement or receipt. Each payment needs its own."
        maxLength={255}
        autoComplete="off"
        {...field('payment_reference')}
        {...(referenceError && { error: referenceError })}
      />
    </>
  );
}
