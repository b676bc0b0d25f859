'use client';

import { Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { type OwedBy, owedAfter } from '@/lib/invoices/totals';
import { typedAmount } from '@/lib/typed-amount';
import { formatMoney } from '../../../../_components/format';
import { type FieldProps, TypedForm, type TypedState } from '../../typed-form';

interface Invoice extends OwedBy {
  name: string;
  isManaged: boolean;
}

interface Props {
  action(before: TypedState, form: FormData): Promise<TypedState>;
  cancel: string;
  currency: string;
  invoice: Invoice;
  initial: Record<string, string>;
}

export function RefundForm({ currency, invoice, initial, ...form }: Props) {
  return (
    <TypedForm<TypedState>
      label="Refund"
      submit="Record refund"
      first={{ typed: initial, problems: {} }}
      {...form}
    >
      {(field, { typed }) => (
        <RefundFields field={field} first={typed.amount ?? ''} currency={currency} invoice={invoice} />
      )}
    </TypedForm>
  );
}

interface FieldsProps extends Pick<Props, 'currency' | 'invoice'> {
  field: FieldProps;
  first: string;
}

function RefundFields({ field, first, currency, invoice }: FieldsProps) {
  const [typed, setTyped] = useState(first);
  const amount = typedAmount(typed);
  return (
    <>
      <TextInput
        label={`Amount in ${currency.toUpperCase()}`}
        description="After a partial refund, the payment stays completed with the remaining amount."
        inputMode="decimal"
        autoComplete="off"
        {...field('amount')}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      <Text size="sm" role="status">
        {effectOf(invoice, amount === null ? 0 : Number(amount), currency)}
      </Text>
      <TextInput label="Refunded on" type="date" {...field('date')} />
    </>
  );
}

function effectOf(invoice: Invoice, amount: number, currency: string): string {
  if (invoice.isManaged) return `Invoice ${invoice.name} stays as it is, since Stripe manages it.`;
  return `Invoice ${invoice.name} will then owe ${formatMoney(owedAfter(invoice, amount), currency)}.`;
}
